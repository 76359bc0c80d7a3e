package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.WireFormat;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * One key as it stands at some revision, kept as etcd's own encoding of an {@code mvccpb.KeyValue} (fields in the order
 * of their numbers, defaults left out), so that answers are assembled rather than encoded. Immutable.
 */
public final class Entry {

    private static final int KEY = 1;
    private static final int CREATE_REVISION = 2;
    private static final int MOD_REVISION = 3;
    private static final int VERSION = 4;
    private static final int VALUE = 5;
    private static final int LEASE = 6;

    private final byte[] wire;

    private Entry(byte[] wire) {
        this.wire = wire;
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
            throw new UncheckedIOException("the size was computed", e);
        }
        return new Entry(wire);
    }

    /** The encoding, as it goes into an answer. */
    public int wireSize() {
        return wire.length;
    }

    /** The encoding itself; never to be changed. */
    public byte[] wire() {
        return wire;
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

    /** Number of puts since the key was created, from 1. */
    public long version() {
        return number(VERSION);
    }

    /** Id of the attached lease, 0 for none. */
    public long lease() {
        return number(LEASE);
    }

    /** Bytes of key and value. */
    public long bytes() {
        return (long) key().size() + value().size();
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

    private long number(int field) {
        try {
            CodedInputStream in = CodedInputStream.newInstance(wire);
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                if (WireFormat.getTagFieldNumber(tag) == field) {
                    return in.readInt64();
                }
                in.skipField(tag);
            }
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException("an entry that was encoded here", e);
        }
    }

    private ByteString bytes(int field) {
        try {
            CodedInputStream in = CodedInputStream.newInstance(wire);
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                if (WireFormat.getTagFieldNumber(tag) == field) {
                    int length = in.readRawVarint32();
                    return UnsafeByteOperations.unsafeWrap(wire, in.getTotalBytesRead(), length);
                }
                in.skipField(tag);
            }
            return ByteString.EMPTY;
        } catch (IOException e) {
            throw new UncheckedIOException("an entry that was encoded here", e);
        }
    }

    private static int sizeOf(int field, long value) {
        return value == 0 ? 0 : CodedOutputStream.computeInt64Size(field, value);
    }

    private static void write(CodedOutputStream out, int field, long value) throws IOException {
        if (value != 0) {
            out.writeInt64(field, value);
        }
    }
}
