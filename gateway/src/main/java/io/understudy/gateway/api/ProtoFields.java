package io.understudy.gateway.api;

import io.netty.buffer.ByteBuf;

/** The parts of protobuf's encoding that answers need, straight into a buffer. Tags are of one byte here. */
public final class ProtoFields {

    private ProtoFields() {}

    /** Of a number as a field; none if it is zero, as everywhere in proto3. */
    public static int numberSize(long value) {
        return value == 0 ? 0 : 1 + varintSize(value);
    }

    public static void writeNumber(ByteBuf out, int tag, long value) {
        if (value != 0) {
            out.writeByte(tag);
            writeVarint(out, value);
        }
    }

    /** Of a message or bytes as a field, with tag and length. */
    static long lengthDelimitedSize(long size) {
        return 1 + varintSize(size) + size;
    }

    static void writeLengthDelimited(ByteBuf out, int tag, long size) {
        out.writeByte(tag);
        writeVarint(out, size);
    }

    static int varintSize(long value) {
        // One byte for each seven bits; the 1 makes zero take a byte too.
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
