package io.understudy.cluster.recover;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.understudy.cluster.recover.LogEntry.Fields;
import io.understudy.cluster.recover.LogEntry.LogPosition;
import io.understudy.cluster.recover.LogEntry.Voting;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The content of a member's write-ahead log, read without changes. The member may run meanwhile.
 *
 * <p>Like etcd ({@code server/storage/wal}, 3.5 to 3.7), it reads all segments in order, checks the CRC of each record,
 * drops entries overwritten by later ones of the same index, and ignores a torn record at the end.
 *
 * @param member the member's ID
 * @param vote the vote in {@code term}
 * @param last the last entry, or the snapshot that no entry follows
 * @param committed the highest index that the log marks as committed
 * @param voting the configuration at {@code committed}
 * @param tail entries after {@code committed}: some may have been acknowledged
 * @param end position of the next record
 */
record WriteAheadLog(
        long member,
        long cluster,
        long term,
        long vote,
        LogPosition last,
        long committed,
        Voting voting,
        List<LogEntry> tail,
        End end) {

    /** The log of a member without any entries. */
    static final WriteAheadLog NONE =
            new WriteAheadLog(0, 0, 0, 0, LogPosition.NONE, 0, Voting.NONE, List.of(), new End(Path.of(""), 0, 0));

    private static final int METADATA = 1;
    private static final int ENTRY = 2;
    private static final int STATE = 3;
    private static final int CRC = 4;
    private static final int SNAPSHOT = 5;
    private static final int FRAME = Long.BYTES;
    private static final int SECTOR = 512;
    private static final long LENGTH = (1L << 56) - 1;

    WriteAheadLog {
        tail = List.copyOf(tail);
    }

    /**
     * The end of the last segment's records.
     *
     * @param crc of all records
     */
    record End(Path segment, long offset, int crc) {}

    /** @throws IOException the log is incomplete or damaged before its end, or cannot be read */
    static WriteAheadLog read(Path folder) throws IOException {
        List<Path> segments;
        try (Stream<Path> files = Files.list(folder)) {
            segments = files.filter(file -> file.getFileName().toString().matches("[0-9a-f]{16}-[0-9a-f]{16}\\.wal"))
                    .sorted()
                    .toList();
        }
        if (segments.isEmpty()) {
            throw new NoSuchFileException(folder.toString(), null, "no segment of a write-ahead log");
        }
        Reader reader = new Reader();
        for (int i = 0; i < segments.size(); i++) {
            if (sequence(segments.get(i)) != sequence(segments.get(0)) + i) {
                throw new IOException("segment before " + segments.get(i) + " is missing");
            }
            reader.read(segments.get(i), i == segments.size() - 1);
        }
        return reader.result(segments.get(segments.size() - 1));
    }

    /** Returns entries that change the configuration after {@code committed}. */
    Stream<LogEntry> changes() {
        return tail.stream().filter(LogEntry::changesMembers);
    }

    /**
     * Marks all entries in a copy of this log as committed. When etcd starts on the copy, it applies them.
     *
     * @param folder folder of the copy
     */
    void commitAll(Path folder) throws IOException {
        ByteString newState = UnknownFieldSet.newBuilder()
                .addField(1, Fields.number(Math.max(term, last.term())))
                .addField(2, Fields.number(vote))
                .addField(3, Fields.number(last.index()))
                .build()
                .toByteString();
        byte[] record = UnknownFieldSet.newBuilder()
                .addField(1, Fields.number(STATE))
                .addField(2, Fields.number(Integer.toUnsignedLong(Crc32c.update(end.crc(), newState))))
                .addField(3, Fields.bytes(newState))
                .build()
                .toByteArray();
        int padding = -record.length & (FRAME - 1);
        long frame = record.length | (padding == 0 ? 0 : (0x80L | padding) << 56);
        ByteBuffer bytes = ByteBuffer.allocate(FRAME + record.length + padding).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(frame).put(record).rewind();
        Path segment = folder.resolve(end.segment().getFileName().toString());
        try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
            long at = end.offset();
            while (bytes.hasRemaining()) {
                at += channel.write(bytes, at);
            }
            // Whatever follows was torn.
            channel.truncate(at);
            channel.force(true);
        }
    }

    private static long sequence(Path segment) {
        return Long.parseUnsignedLong(segment.getFileName().toString().substring(0, 16), 16);
    }

    /** Reads one log, once. */
    private static final class Reader {

        private final Deque<LogEntry> uncommitted = new ArrayDeque<>();
        private final Deque<LogEntry> changes = new ArrayDeque<>();
        private UnknownFieldSet metadata = UnknownFieldSet.getDefaultInstance();
        private UnknownFieldSet state = UnknownFieldSet.getDefaultInstance();
        private @Nullable LogPosition last;
        private Voting base = Voting.NONE;
        /** Snapshot from the leader, written before the state that marks it as committed. */
        private @Nullable UnknownFieldSet received;

        private int crc;
        private long offset;

        void read(Path segment, boolean isLast) throws IOException {
            offset = 0;
            long size = Files.size(segment);
            boolean isFirstRecord = true;
            try (InputStream in = Files.newInputStream(segment);
                    DataInputStream data = new DataInputStream(new BufferedInputStream(in, 1 << 16))) {
                while (size - offset >= FRAME) {
                    long frame = Long.reverseBytes(data.readLong());
                    if (frame == 0) {
                        return;
                    }
                    long length = frame & LENGTH;
                    int padding = frame < 0 ? (int) (frame >>> 56) & 7 : 0;
                    if (length > size - offset - FRAME - padding || length > Integer.MAX_VALUE - padding) {
                        throw new EOFException("record of " + length + " bytes exceeds the segment");
                    }
                    byte[] bytes = data.readNBytes((int) length + padding);
                    if (!accept(bytes, (int) length, isFirstRecord)) {
                        if (isLast && isTorn(bytes)) {
                            return;
                        }
                        throw new IOException("CRC mismatch");
                    }
                    isFirstRecord = false;
                    offset += FRAME + bytes.length;
                }
            } catch (EOFException e) {
                if (!isLast) {
                    throw new IOException(segment + " ends early at offset " + offset, e);
                }
            } catch (IOException | RecoveryException e) {
                throw new IOException(segment + " is damaged at offset " + offset + ": " + e.getMessage(), e);
            }
        }

        /** @return false if the record is damaged */
        private boolean accept(byte[] bytes, int length, boolean isFirst) throws IOException {
            UnknownFieldSet record;
            try {
                record = UnknownFieldSet.parseFrom(ByteString.copyFrom(bytes, 0, length));
            } catch (InvalidProtocolBufferException e) {
                return false;
            }
            long type = Fields.number(record, 1);
            List<Integer> sums = record.getField(2).getFixed32List();
            int expected = sums.isEmpty() ? (int) Fields.number(record, 2) : sums.get(0);
            ByteString data = Fields.bytes(record, 3);
            if (type == CRC) {
                // A new decoder has none yet: segments before the first one were deleted.
                if (crc != 0 && crc != expected) {
                    return false;
                }
                crc = expected;
                return true;
            }
            if (isFirst) {
                throw new IOException("segment does not begin with a CRC");
            }
            int sum = Crc32c.update(crc, data);
            if (sum != expected) {
                return false;
            }
            crc = sum;
            accept((int) type, data);
            return true;
        }

        private void accept(int type, ByteString data) throws IOException {
            switch (type) {
                case METADATA -> metadata = UnknownFieldSet.parseFrom(data);
                case ENTRY -> accept(LogEntry.parse(data));
                case STATE -> {
                    state = UnknownFieldSet.parseFrom(data);
                    install(committed());
                    while (!uncommitted.isEmpty() && uncommitted.getFirst().at().index() <= committed()) {
                        uncommitted.removeFirst();
                    }
                }
                case SNAPSHOT -> accept(UnknownFieldSet.parseFrom(data));
                default -> throw new IOException("record has unknown type " + type);
            }
        }

        private void accept(LogEntry entry) throws IOException {
            long index = entry.at().index();
            install(index - 1);
            if (last != null && index > last.index() + 1) {
                throw new IOException("entry " + index + " follows entry " + last.index());
            }
            drop(uncommitted, index);
            drop(changes, index);
            uncommitted.addLast(entry);
            if (entry.changesMembers()) {
                changes.addLast(entry);
            }
            last = entry.at();
        }

        private static void drop(Deque<LogEntry> entries, long from) {
            while (!entries.isEmpty() && entries.getLast().at().index() >= from) {
                entries.removeLast();
            }
        }

        private void accept(UnknownFieldSet snapshot) throws IOException {
            long index = Fields.number(snapshot, 1);
            if (last != null && index <= last.index() && index <= committed()) {
                rebase(snapshot);
            } else if (index > 0) {
                received = snapshot;
            }
        }

        private void install(long committed) throws IOException {
            UnknownFieldSet snapshot = received;
            if (snapshot == null || Fields.number(snapshot, 1) > committed) {
                return;
            }
            received = null;
            long index = Fields.number(snapshot, 1);
            if (last == null || last.index() < index) {
                last = new LogPosition(Fields.number(snapshot, 2), index);
                uncommitted.clear();
            }
            rebase(snapshot);
        }

        private void rebase(UnknownFieldSet snapshot) throws IOException {
            ByteString configuration = Fields.bytes(snapshot, 3);
            if (configuration.isEmpty()) {
                return;
            }
            UnknownFieldSet fields = UnknownFieldSet.parseFrom(configuration);
            base = new Voting(members(fields, 1), members(fields, 2));
            long index = Fields.number(snapshot, 1);
            while (!changes.isEmpty() && changes.getFirst().at().index() <= index) {
                changes.removeFirst();
            }
        }

        /** Reads member IDs, packed or, as by proto2, one by one. */
        private static Set<Long> members(UnknownFieldSet fields, int number) throws IOException {
            Set<Long> members = new HashSet<>(fields.getField(number).getVarintList());
            for (ByteString packed : fields.getField(number).getLengthDelimitedList()) {
                var in = packed.newCodedInput();
                while (!in.isAtEnd()) {
                    members.add(in.readUInt64());
                }
            }
            return members;
        }

        private long committed() {
            return Fields.number(state, 3);
        }

        /** Whether a record is torn: as for etcd, a sector of zeros was never written. */
        private boolean isTorn(byte[] bytes) {
            long at = offset + FRAME;
            for (int from = 0; from < bytes.length; ) {
                int to = (int) Math.min(bytes.length, from + SECTOR - (at + from) % SECTOR);
                boolean isZero = true;
                for (int i = from; i < to; i++) {
                    isZero &= bytes[i] == 0;
                }
                if (isZero) {
                    return true;
                }
                from = to;
            }
            return false;
        }

        WriteAheadLog result(Path segment) throws IOException {
            Voting voting = base;
            for (LogEntry change : changes) {
                if (change.at().index() <= committed()) {
                    voting = voting.after(change);
                }
            }
            return new WriteAheadLog(
                    Fields.number(metadata, 1),
                    Fields.number(metadata, 2),
                    Fields.number(state, 1),
                    Fields.number(state, 2),
                    last == null ? LogPosition.NONE : last,
                    committed(),
                    voting,
                    List.copyOf(uncommitted),
                    new End(segment, offset, crc));
        }
    }

    /** CRC-32C that continues from an earlier sum, as etcd's logs need. The JDK's starts at zero only. */
    static final class Crc32c {

        private static final int POLYNOMIAL = 0x82F63B78;
        private static final int[] TABLE = table();

        private Crc32c() {}

        static int update(int sum, ByteString bytes) {
            int crc = ~sum;
            for (int i = 0; i < bytes.size(); i++) {
                crc = TABLE[(crc ^ bytes.byteAt(i)) & 0xFF] ^ (crc >>> 8);
            }
            return ~crc;
        }

        private static int[] table() {
            int[] table = new int[256];
            for (int i = 0; i < table.length; i++) {
                int crc = i;
                for (int bit = 0; bit < 8; bit++) {
                    crc = (crc & 1) == 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL;
                }
                table[i] = crc;
            }
            return table;
        }
    }
}
