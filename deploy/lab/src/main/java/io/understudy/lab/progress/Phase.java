package io.understudy.lab.progress;

import java.util.Locale;

/** How far a part has come. */
public enum Phase {
    WAITING,
    STARTING,
    READY;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
