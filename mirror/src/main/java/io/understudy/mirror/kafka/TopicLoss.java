package io.understudy.mirror.kafka;

/** Action when a topic lacks written data. */
public enum TopicLoss {
    /** Stop the mirror and report the missing data. */
    STOP,
    /** Rewrite the whole state; readers start with it. */
    RESYNC
}
