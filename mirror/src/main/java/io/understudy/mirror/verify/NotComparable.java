package io.understudy.mirror.verify;

import java.util.Locale;

/** The sides could not be compared, so it is unknown whether they are equal. */
public record NotComparable(Why why, String reason) implements VerifyResult {

    /** The obstacle. */
    public enum Why {
        /** The target has no checkpoint of this mirror. */
        NO_CHECKPOINT,
        /** The checkpoint is of another scope than the requested one. */
        ANOTHER_SCOPE,
        /** A snapshot is being written. */
        SYNCING,
        /** A commit too large for one transaction is being written. */
        TORN,
        /** The target is the primary: clients write the keys there. */
        HOME_MOVED,
        /** The target has not yet reached the source's first readable state. */
        BEHIND,
        /** A side compacted what was read, again and again. */
        COMPACTED,
        /** A side doesn't answer, or lacks what the checkpoint records. */
        UNAVAILABLE,
        /** The endpoints lead to another cluster than the checkpoint's. */
        ANOTHER_CLUSTER;

        /** Returns the displayed name. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }
}
