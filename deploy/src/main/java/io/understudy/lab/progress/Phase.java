package io.understudy.lab.progress;

import java.util.Locale;

/** How far a part has come. WAITING, then STARTING, then READY or FAILED. */
public enum Phase {
    WAITING,
    STARTING,
    READY,
    FAILED;

    boolean ended() {
        return this == READY || this == FAILED;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
