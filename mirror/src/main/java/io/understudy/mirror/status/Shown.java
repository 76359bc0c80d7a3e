package io.understudy.mirror.status;

import io.understudy.mirror.revisions.RevisionMap;
import java.util.List;
import java.util.Optional;

/** What a status server asks for each request. Any thread. */
public interface Shown {

    /** Each mirror as it stands now. */
    List<MirrorShown> mirrors();

    /** Prometheus' text format. */
    String metrics();

    /** What translates revisions of a mirror; empty for one that isn't there, or whose target has no revisions. */
    Optional<RevisionMap> revisions(String mirror);
}
