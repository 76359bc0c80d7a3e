package io.understudy.cluster.recover;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import java.util.List;

/** Values of a message without a generated class. The last one counts, an absent one is zero. */
final class Fields {

    private Fields() {}

    static long number(UnknownFieldSet fields, int number) {
        List<Long> values = fields.getField(number).getVarintList();
        return values.isEmpty() ? 0 : values.get(values.size() - 1);
    }

    static ByteString bytes(UnknownFieldSet fields, int number) {
        List<ByteString> values = fields.getField(number).getLengthDelimitedList();
        return values.isEmpty() ? ByteString.EMPTY : values.get(values.size() - 1);
    }

    static UnknownFieldSet.Field number(long value) {
        return UnknownFieldSet.Field.newBuilder().addVarint(value).build();
    }

    static UnknownFieldSet.Field bytes(ByteString value) {
        return UnknownFieldSet.Field.newBuilder().addLengthDelimited(value).build();
    }
}
