package io.understudy.cluster.machine;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** The member that the data in a directory belong to, as the data state. */
public record DataOwner(ClusterId cluster, MemberId member) {

    /** Types of records ({@code storage/wal/wal.go}). */
    private static final int METADATA = 1;

    /** The lowest 56 bits of a record's length field; the rest is padding. */
    private static final long LENGTH = (1L << 56) - 1;

    private static final long PADDED = 7;

    /**
     * Reads the metadata record, which follows the checksum record.
     *
     * @param log the start of a file of the write-ahead log, little-endian
     */
    static Optional<DataOwner> in(ByteBuffer log) throws IOException {
        while (log.remaining() > Long.BYTES) {
            long field = log.getLong();
            long length = field & LENGTH;
            if (length == 0 || length > log.remaining()) {
                return Optional.empty();
            }
            byte[] bytes = new byte[(int) length];
            log.get(bytes);
            UnknownFieldSet record = UnknownFieldSet.parseFrom(bytes);
            List<ByteString> data = record.getField(3).getLengthDelimitedList();
            if (number(record, 1) == METADATA && !data.isEmpty()) {
                UnknownFieldSet metadata = UnknownFieldSet.parseFrom(data.get(0));
                return Optional.of(
                        new DataOwner(new ClusterId(number(metadata, 2)), new MemberId(number(metadata, 1))));
            }
            int padding = field < 0 ? (int) (field >>> 56 & PADDED) : 0;
            log.position(Math.min(log.limit(), log.position() + padding));
        }
        return Optional.empty();
    }

    private static long number(UnknownFieldSet message, int field) {
        return message.getField(field).getVarintList().stream().findFirst().orElse(0L);
    }

    @Override
    public String toString() {
        return "member " + member + " of cluster " + cluster;
    }
}
