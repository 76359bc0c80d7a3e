package io.understudy.mirror.revisions;

import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/** The revision at which a watcher of the source resumes in the target. */
public sealed interface Translation {

    /**
     * The watcher resumes at this revision: events may repeat, none is missed.
     *
     * @param start the watch's start revision, in the target
     */
    record ResumeAt(Revision start) implements Translation {}

    /**
     * The watcher lists the keys and watches: the target's history lacks some later changes.
     *
     * @param oldest target revision from which a list is newer than the received events
     * @param resumable first source revision that resumes instead; null for none
     */
    record ListAgain(Revision oldest, @Nullable Revision resumable, String why) implements Translation {}

    /**
     * The watcher is ahead of the target and retries when that has caught up. If the source is lost, those changes are
     * lost as well, and it lists again.
     *
     * @param complete source revision up to which the target holds everything
     */
    record NotYet(Revision complete, String why) implements Translation {}
}
