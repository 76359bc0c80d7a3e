package io.understudy.mirror.status;

import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.revisions.RevisionMap;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a status server reads for each request. Any thread. */
public interface Shown {

    /** The current state of each mirror. */
    List<MirrorShown> mirrors();

    /**
     * All meters as text.
     *
     * @param accept the request's header of that name
     */
    ProcessMetrics.Scrape metrics(@Nullable String accept);

    /** What translates revisions of a mirror; empty if it is missing or its target has no revisions. */
    Optional<RevisionMap> revisions(String mirror);
}
