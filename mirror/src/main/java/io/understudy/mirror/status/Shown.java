package io.understudy.mirror.status;

import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.revisions.RevisionMap;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a status server asks for each request. Any thread. */
public interface Shown {

    /** Each mirror as it stands now. */
    List<MirrorShown> mirrors();

    /**
     * All meters as text.
     *
     * @param accept the request's header of that name
     */
    ProcessMetrics.Scrape metrics(@Nullable String accept);

    /** What translates revisions of a mirror; empty for one that isn't there, or whose target has no revisions. */
    Optional<RevisionMap> revisions(String mirror);
}
