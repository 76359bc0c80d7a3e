package io.understudy.mirror.kafka;

/** What is done when a topic turns out to lack what was written to it. */
public enum TopicLoss {
    /** The mirror ends, and reports what is missing. */
    STOP,
    /** The whole state is written again; readers begin with it. */
    RESYNC
}
