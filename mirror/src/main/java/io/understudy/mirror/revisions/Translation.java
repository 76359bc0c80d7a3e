package io.understudy.mirror.revisions;

import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/** Where a watcher of the source, which has received everything up to a revision, resumes in the target. */
public sealed interface Translation {

    /**
     * It watches from there: what it has seen may come again, nothing is missed.
     *
     * @param start the watch's start revision, in the target
     */
    record ResumeAt(Revision start) implements Translation {}

    /**
     * It lists the keys and watches from there: the target's history lacks changes that follow what was seen.
     *
     * @param oldest a list read at this revision of the target or a later one is newer than what was seen
     * @param resumable the first revision of the source that resumes instead; null if no later one does
     */
    record ListAgain(Revision oldest, @Nullable Revision resumable, String why) implements Translation {}

    /**
     * It has received more than the target has: retry when the target has reached that revision. If the source is lost,
     * those changes are lost as well, and it lists again.
     *
     * @param complete the target holds everything of the source up to there
     */
    record NotYet(Revision complete, String why) implements Translation {}
}
