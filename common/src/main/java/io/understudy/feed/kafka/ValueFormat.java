package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.kafka.KafkaClients;

/** Format of the values of a mirror's records. Keys and headers are the same in each. */
public enum ValueFormat {
    /** The value as in etcd. */
    RAW("2"),
    /** Debezium's envelope as JSON, see {@link RecordFormat.Envelope}. */
    DEBEZIUM("3");

    private static final int ENVELOPE_BYTES = 512;

    /** Value of the header {@code understudy.format}; readers of earlier versions only accept {@code 2}. */
    private final String number;

    ValueFormat(String number) {
        this.number = number;
    }

    /** Value of the header {@code understudy.format}. */
    public String number() {
        return number;
    }

    /** The least {@code max.message.bytes} for the largest values of etcd. */
    public int messageBytes() {
        return this == RAW ? KafkaClients.MAX_MESSAGE_BYTES : 2 * KafkaClients.MAX_MESSAGE_BYTES;
    }

    /**
     * Largest size of a record's key and value.
     *
     * @param bytes of the etcd key and value
     */
    public long size(ByteString key, long bytes) {
        return this == RAW ? bytes : key.size() + bytes + (bytes + 2) / 3 + ENVELOPE_BYTES;
    }
}
