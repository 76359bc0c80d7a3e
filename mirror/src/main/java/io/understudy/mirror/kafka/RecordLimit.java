package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Revision;

/**
 * The largest record that the topics take. A change beyond it is refused before anything of its commit is sent.
 *
 * <p>Invariant M29: no part of a commit with an oversized value is written.
 *
 * @param bytes the least {@code max.message.bytes} of the topics that hold keys
 */
record RecordLimit(int bytes, String topics) {

    /** Upper bound of headers and the envelope of a batch of one record. */
    private static final int AROUND = 1 << 10;
    /** Inverse of the maximum growth of incompressible data. */
    private static final int GROWTH_DIVISOR = 256;

    /**
     * Checks one record.
     *
     * @param size bytes of key and value
     * @throws SinkException.Refused it may not fit
     */
    void requireFits(ByteString key, long size, Revision revision) {
        long record = size + size / GROWTH_DIVISOR + AROUND;
        if (record > bytes) {
            throw new SinkException.Refused("key \"" + TextFormat.escapeBytes(key) + "\" at revision " + revision
                    + " requires a record of up to " + record + " bytes; max.message.bytes of " + topics + " is "
                    + bytes + ". The mirror stopped before it. Increase max.message.bytes of both topics"
                    + " (kafka-configs --alter --entity-type topics), and the brokers' replica.fetch.max.bytes if"
                    + " lower, then restart the mirror");
        }
    }
}
