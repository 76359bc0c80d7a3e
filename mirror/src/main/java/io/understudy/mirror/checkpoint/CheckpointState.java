package io.understudy.mirror.checkpoint;

/** The content of the target range, according to its checkpoint. */
public enum CheckpointState {
    /** A snapshot is being written: the range equals no state of the source. */
    SYNCING("syncing"),
    /** The range equals the source's at the checkpoint's revision. */
    SYNCED("synced"),
    /** A part of a commit too large for one transaction follows the checkpoint's revision. */
    TORN("torn");

    private final String word;

    CheckpointState(String word) {
        this.word = word;
    }

    /** Returns the stored and displayed name. */
    public String word() {
        return word;
    }
}
