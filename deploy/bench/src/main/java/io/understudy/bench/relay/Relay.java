package io.understudy.bench.relay;

/** What copies the writes of the source to another place. */
public enum Relay {
    MIRROR("mirror"),
    MAKE_MIRROR("make-mirror"),
    /** The mirror to Kafka, and a second one from there to another cluster. */
    CHAIN("through to etcd"),
    /** Kafka's own producer performance tool, without a source. */
    PRODUCER("Kafka's tool"),
    /** A client that only watches the source: how fast etcd itself delivers its history. */
    WATCH("bare watch"),
    /** How fast the source alone is, or the target when it is written directly. */
    NONE("no relay");

    private final String title;

    Relay(String title) {
        this.title = title;
    }

    @Override
    public String toString() {
        return title;
    }
}
