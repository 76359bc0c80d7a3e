package io.understudy.cluster.recover;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.understudy.cluster.recover.LogEntry.Fields;
import io.understudy.cluster.recover.WriteAheadLog.Crc32c;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A segment of a write-ahead log in etcd's format, made record by record. */
final class WalFile {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int crc;

    /** @param crc of all earlier segments */
    WalFile(int crc) {
        this.crc = crc;
        frame(4, ByteString.EMPTY);
        record(1, message(1, 0xAAAAL, 2, 0xBBBBL).toByteString());
    }

    WalFile entry(long term, long index, String key) {
        ByteString put = UnknownFieldSet.newBuilder()
                .addField(1, Fields.bytes(ByteString.copyFromUtf8(key)))
                .build()
                .toByteString();
        return entry(
                term,
                index,
                0,
                UnknownFieldSet.newBuilder()
                        .addField(4, Fields.bytes(put))
                        .build()
                        .toByteString());
    }

    /** @param kind as in {@code raftpb.ConfChangeType} */
    WalFile change(long term, long index, long kind, long member) {
        return entry(term, index, 1, message(2, kind, 3, member).toByteString());
    }

    private WalFile entry(long term, long index, long type, ByteString data) {
        return record(
                2,
                message(1, type, 2, term).toBuilder()
                        .addField(3, Fields.number(index))
                        .addField(4, Fields.bytes(data))
                        .build()
                        .toByteString());
    }

    WalFile state(long term, long commit) {
        return record(3, message(1, term, 3, commit).toByteString());
    }

    WalFile snapshot(long term, long index, long... voters) {
        UnknownFieldSet.Field.Builder ids = UnknownFieldSet.Field.newBuilder();
        for (long voter : voters) {
            ids.addVarint(voter);
        }
        return record(
                5,
                message(1, index, 2, term).toBuilder()
                        .addField(
                                3,
                                Fields.bytes(UnknownFieldSet.newBuilder()
                                        .addField(1, ids.build())
                                        .build()
                                        .toByteString()))
                        .build()
                        .toByteString());
    }

    private static UnknownFieldSet message(int first, long value, int second, long other) {
        return UnknownFieldSet.newBuilder()
                .addField(first, Fields.number(value))
                .addField(second, Fields.number(other))
                .build();
    }

    private WalFile record(long type, ByteString data) {
        crc = Crc32c.update(crc, data);
        return frame(type, data);
    }

    private WalFile frame(long type, ByteString data) {
        byte[] record = UnknownFieldSet.newBuilder()
                .addField(1, Fields.number(type))
                .addField(2, Fields.number(Integer.toUnsignedLong(crc)))
                .addField(3, Fields.bytes(data))
                .build()
                .toByteArray();
        int padding = -record.length & 7;
        ByteBuffer frame = ByteBuffer.allocate(8 + record.length + padding).order(ByteOrder.LITTLE_ENDIAN);
        frame.putLong(record.length | (padding == 0 ? 0 : (0x80L | padding) << 56))
                .put(record);
        bytes.writeBytes(frame.array());
        return this;
    }

    int crc() {
        return crc;
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }

    /** Writes it with preallocated space after it, as etcd does. */
    Path write(Path folder, int sequence) throws IOException {
        return write(folder, sequence, bytes.size() + 4096);
    }

    Path write(Path folder, int sequence, int size) throws IOException {
        return Files.write(
                folder.resolve("%016x-%016x.wal".formatted(sequence, sequence)),
                Arrays.copyOf(bytes.toByteArray(), size));
    }
}
