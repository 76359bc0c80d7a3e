package io.understudy.gateway.json;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;

/**
 * Writes messages of any type as JSON. Fields have their original names, in the order of declaration; unset ones are
 * left out. Integers of 64 bits are strings, bytes are base64, enums are names, or numbers where there is no name.
 */
final class MessageJson {

    private MessageJson() {}

    static void write(JsonBytes out, Message message) {
        out.open('{');
        members(out, message);
        out.close('}');
    }

    /** Writes the fields of a message without its braces. */
    static void members(JsonBytes out, Message message) {
        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            if (field.isRepeated()) {
                if (message.getRepeatedFieldCount(field) > 0) {
                    out.member(JsonBytes.name(field.getName()));
                    list(out, field, (List<?>) message.getField(field));
                }
            } else if (message.hasField(field)) {
                out.member(JsonBytes.name(field.getName()));
                value(out, field, message.getField(field));
            }
        }
    }

    private static void list(JsonBytes out, FieldDescriptor field, List<?> values) {
        out.open('[');
        elements(out, field, values);
        out.close(']');
    }

    /** Writes elements of a list without its brackets. */
    static void elements(JsonBytes out, FieldDescriptor field, List<?> values) {
        for (Object each : values) {
            out.separate();
            value(out, field, each);
        }
    }

    private static void value(JsonBytes out, FieldDescriptor field, Object value) {
        switch (field.getType()) {
            case INT64, SINT64, SFIXED64 -> out.quotedLong((Long) value);
            case UINT64, FIXED64 -> out.string(Long.toUnsignedString((Long) value));
            case INT32, SINT32, SFIXED32 -> out.decimal((Integer) value);
            case UINT32, FIXED32 -> out.decimal(Integer.toUnsignedLong((Integer) value));
            case BOOL -> out.append(((Boolean) value) ? TRUE : FALSE);
            case STRING -> out.string((String) value);
            case BYTES -> {
                byte[] bytes = ((ByteString) value).toByteArray();
                out.base64(bytes, 0, bytes.length);
            }
            case ENUM -> named(out, (EnumValueDescriptor) value);
            case MESSAGE -> write(out, (Message) value);
            // etcd has none.
            case DOUBLE, FLOAT, GROUP -> throw new IllegalArgumentException("unsupported field type: " + field);
        }
    }

    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};

    private static void named(JsonBytes out, EnumValueDescriptor value) {
        // A number without a name gets a descriptor of its own, of no index.
        if (value.getIndex() < 0) {
            out.decimal(value.getNumber());
        } else {
            out.string(value.getName());
        }
    }
}
