package io.understudy.mirror.checkpoint;

/** What the target range holds, according to its checkpoint. */
public enum CheckpointState {
    /** A snapshot is being written: no state that the source ever had. */
    SYNCING("syncing"),
    /** Exactly the source's range at the checkpoint's revision. */
    SYNCED("synced"),
    /** The range at the checkpoint's revision and, beyond it, a part of the next commit, too large for one transaction. */
    TORN("torn");

    private final String word;

    CheckpointState(String word) {
        this.word = word;
    }

    /** As stored and shown. */
    public String word() {
        return word;
    }
}
