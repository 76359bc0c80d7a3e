package io.understudy.lab.progress;

import java.util.Locale;

/** The phase of a part. */
public enum Phase {
    WAITING,
    STARTING,
    READY;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
