package io.understudy.mirror.status;

import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.revisions.RevisionMap;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The data that a status server reads for each request. Any thread. */
public interface Shown {

    /** Returns the current state of each mirror. */
    List<MirrorShown> mirrors();

    /**
     * Returns all meters as text.
     *
     * @param accept the request's header of that name
     */
    ProcessMetrics.Scrape metrics(@Nullable String accept);

    /** Returns the translation of a mirror's revisions. Empty if the mirror is missing or its target has none. */
    Optional<RevisionMap> revisions(String mirror);
}
