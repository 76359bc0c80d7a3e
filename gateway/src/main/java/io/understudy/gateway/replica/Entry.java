package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * A key at some revision, kept as etcd's own encoding of an {@code mvccpb.KeyValue}. Fields are in the order of their
 * numbers, without defaults, so that responses are assembled rather than encoded. Immutable.
 *
 * <p>Fields are found by walking the encoding, which costs less than the objects that would hold them.
 */
public final class Entry {

    private static final int KEY = 1;
    private static final int CREATE_REVISION = 2;
    private static final int MOD_REVISION = 3;
    private static final int VERSION = 4;
    private static final int VALUE = 5;
    private static final int LEASE = 6;

    /** Protobuf's wire type of keys and values, the low three bits of a tag. Tags of these fields are one byte. */
    private static final int BYTES = 2;

    private final byte[] wire;

    /** Takes ownership of an array that {@link #of} made. */
    Entry(byte[] wire) {
        this.wire = wire;
    }

    /** The entry of an etcd event; a deleted key has only key and revision. */
    static Entry of(Change change, Revision revision) {
        return of(
                change instanceof Change.Put put
                        ? put.keyValue()
                        : new KeyValue(change.key(), ByteString.EMPTY, Revision.ZERO, revision, 0, 0));
    }

    public static Entry of(KeyValue keyValue) {
        ByteString key = keyValue.key();
        ByteString value = keyValue.value();
        long create = keyValue.createRevision().value();
        long mod = keyValue.modRevision().value();
        int size = (key.isEmpty() ? 0 : CodedOutputStream.computeBytesSize(KEY, key))
                + sizeOf(CREATE_REVISION, create)
                + sizeOf(MOD_REVISION, mod)
                + sizeOf(VERSION, keyValue.version())
                + (value.isEmpty() ? 0 : CodedOutputStream.computeBytesSize(VALUE, value))
                + sizeOf(LEASE, keyValue.lease());
        byte[] wire = new byte[size];
        CodedOutputStream out = CodedOutputStream.newInstance(wire);
        try {
            if (!key.isEmpty()) {
                out.writeBytes(KEY, key);
            }
            write(out, CREATE_REVISION, create);
            write(out, MOD_REVISION, mod);
            write(out, VERSION, keyValue.version());
            if (!value.isEmpty()) {
                out.writeBytes(VALUE, value);
            }
            write(out, LEASE, keyValue.lease());
            out.checkNoSpaceLeft();
        } catch (IOException e) {
            throw new UncheckedIOException("encoding failed", e);
        }
        return new Entry(wire);
    }

    /** The encoding, which must not be modified. */
    public byte[] wire() {
        return wire;
    }

    /**
     * Offset in {@link #wire} of the value's field, tag and length included. What is before it and what is after {@link
     * #valueFieldEnd} make the encoding of the entry without its value.
     */
    public int valueFieldStart() {
        return seek(VALUE);
    }

    /** Returns the offset in {@link #wire} of the end of the value's field. For an empty value: the field's start. */
    public int valueFieldEnd() {
        return endOfValue(seek(VALUE));
    }

    private int endOfValue(int start) {
        return isField(start, VALUE) ? fieldEnd(start) : start;
    }

    /** The size of the encoding, as in a response. */
    public int wireSize() {
        return wire.length;
    }

    /** The size of the encoding with these fields only. */
    public int wireSize(EntryFields fields) {
        if (fields == EntryFields.ALL) {
            return wire.length;
        }
        int start = seek(VALUE);
        return start + (fields == EntryFields.WITHOUT_VALUE ? wire.length - endOfValue(start) : 0);
    }

    public ByteString key() {
        return bytes(KEY);
    }

    public ByteString value() {
        return bytes(VALUE);
    }

    public long createRevision() {
        return number(CREATE_REVISION);
    }

    public long modRevision() {
        return number(MOD_REVISION);
    }

    /**
     * Returns the number of puts since the key was created, at least one. It is 0 only for a deleted key in a {@link
     * LoggedCommit}.
     */
    public long version() {
        return number(VERSION);
    }

    /** Id of the attached lease, 0 for none. */
    public long lease() {
        return number(LEASE);
    }

    /** Bytes of key and value. */
    public long bytes() {
        return (long) keyLength(wire) + valueLength();
    }

    public KeyValue keyValue() {
        return new KeyValue(
                key(), value(), new Revision(createRevision()), new Revision(modRevision()), version(), lease());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Entry entry && Arrays.equals(wire, entry.wire);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(wire);
    }

    @Override
    public String toString() {
        return keyValue().toString();
    }

    /** Whether it represents a deleted key. */
    public boolean isDeleted() {
        return version() == 0;
    }

    /** Compares the key of an entry's encoding with {@code key}, as unsigned bytes. */
    static int compareKey(byte[] wire, byte[] key) {
        int length = keyLength(wire);
        int from = length == 0 ? 0 : 1 + varintSize(length);
        return Arrays.compareUnsigned(wire, from, from + length, key, 0, key.length);
    }

    /** A copy of the key of an entry's encoding. */
    static byte[] copyKey(byte[] wire) {
        int length = keyLength(wire);
        int from = length == 0 ? 0 : 1 + varintSize(length);
        return Arrays.copyOfRange(wire, from, from + length);
    }

    /** Bytes that {@code value} takes as a varint. */
    static int varintSize(int value) {
        return CodedOutputStream.computeUInt32SizeNoTag(value);
    }

    private static int keyLength(byte[] wire) {
        return wire.length > 0 && wire[0] == (KEY << 3 | BYTES) ? length(wire, 1) : 0;
    }

    private int valueLength() {
        int at = seek(VALUE);
        return isField(at, VALUE) ? length(wire, at + 1) : 0;
    }

    private long number(int field) {
        int at = seek(field);
        if (!isField(at, field)) {
            return 0;
        }
        long value = 0;
        int shift = 0;
        byte next;
        do {
            next = wire[++at];
            value |= (next & 0x7fL) << shift;
            shift += 7;
        } while (next < 0);
        return value;
    }

    private ByteString bytes(int field) {
        int at = seek(field);
        if (!isField(at, field)) {
            return ByteString.EMPTY;
        }
        int length = length(wire, at + 1);
        return UnsafeByteOperations.unsafeWrap(wire, at + 1 + varintSize(length), length);
    }

    /** Returns the offset of the field or its place, as fields are in numerical order. */
    private int seek(int field) {
        int at = 0;
        while (at < wire.length && wire[at] >>> 3 < field) {
            at = fieldEnd(at);
        }
        return at;
    }

    private boolean isField(int at, int field) {
        return at < wire.length && wire[at] >>> 3 == field;
    }

    private int fieldEnd(int at) {
        if ((wire[at] & 7) == BYTES) {
            int length = length(wire, at + 1);
            return at + 1 + varintSize(length) + length;
        }
        int end = at + 1;
        while (wire[end] < 0) {
            end++;
        }
        return end + 1;
    }

    private static int length(byte[] wire, int at) {
        int value = 0;
        int shift = 0;
        int next = at;
        while (wire[next] < 0) {
            value |= (wire[next++] & 0x7f) << shift;
            shift += 7;
        }
        return value | wire[next] << shift;
    }

    private static int sizeOf(int field, long value) {
        return value == 0 ? 0 : CodedOutputStream.computeInt64Size(field, value);
    }

    private static void write(CodedOutputStream out, int field, long value) throws IOException {
        if (value != 0) {
            out.writeInt64(field, value);
        }
    }

    /** The fields of entries in a response. */
    public enum EntryFields {
        ALL,
        WITHOUT_VALUE,
        WITHOUT_VALUE_AND_LEASE
    }
}
