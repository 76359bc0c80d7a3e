package io.understudy.gateway.api;

import io.netty.buffer.ByteBuf;

/** Encodes protobuf fields into a buffer, as far as answers need it. Tags are of one byte. */
public final class ProtoFields {

    private ProtoFields() {}

    /** Returns the size of a number field; 0 for the value zero, as in proto3. */
    public static int numberSize(long value) {
        return value == 0 ? 0 : 1 + varintSize(value);
    }

    public static void writeNumber(ByteBuf out, int tag, long value) {
        if (value != 0) {
            out.writeByte(tag);
            writeVarint(out, value);
        }
    }

    /** Returns the size of a message or bytes field, with tag and length. */
    static long lengthDelimitedSize(long size) {
        return 1 + varintSize(size) + size;
    }

    static void writeLengthDelimited(ByteBuf out, int tag, long size) {
        out.writeByte(tag);
        writeVarint(out, size);
    }

    static int varintSize(long value) {
        // One byte per seven bits; {@code | 1} counts a byte for zero.
        return (63 - Long.numberOfLeadingZeros(value | 1)) / 7 + 1;
    }

    public static void writeVarint(ByteBuf out, long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            out.writeByte((int) rest | 0x80);
            rest >>>= 7;
        }
        out.writeByte((int) rest);
    }
}
