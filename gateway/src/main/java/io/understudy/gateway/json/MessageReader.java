package io.understudy.gateway.json;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.UnsafeByteOperations;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.BitSet;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads one valid JSON value into a message. One use. */
final class MessageReader {

    /** Maximum nesting of messages, as in protobuf for Java. */
    private static final int MAX_DEPTH = 100;

    private final Map<Descriptor, Map<String, FieldDescriptor>> names;
    private final JsonTokens in;

    MessageReader(Map<Descriptor, Map<String, FieldDescriptor>> names, byte[] body, FirstValue value) {
        this.names = names;
        this.in = new JsonTokens(body, value);
    }

    void read(Message.Builder into) throws MalformedJson {
        message(into, 1);
    }

    private void message(Message.Builder into, int depth) throws MalformedJson {
        if (depth > MAX_DEPTH) {
            throw MalformedJson.proto("exceeded max recursion depth");
        }
        if (in.peek() != '{') {
            throw in.unexpected();
        }
        Map<String, FieldDescriptor> fields = names.getOrDefault(into.getDescriptorForType(), Map.of());
        BitSet seen = new BitSet();
        BitSet seenOneofs = new BitSet();
        in.open();
        while (in.more('}')) {
            int at = in.position();
            FieldDescriptor field = fields.get(in.name());
            if (field == null) {
                in.skip();
                continue;
            }
            if (seen.get(field.getIndex())) {
                throw in.wrong(at, "duplicate field " + in.raw(at));
            }
            seen.set(field.getIndex());
            if (in.peek() == 'n') {
                in.skip();
            } else if (field.isRepeated()) {
                list(into, field, depth);
            } else {
                OneofDescriptor oneof = field.getRealContainingOneof();
                if (oneof != null && seenOneofs.get(oneof.getIndex())) {
                    throw in.wrong(
                            at, "error parsing " + in.raw(at) + ", oneof " + oneof.getFullName() + " is already set");
                }
                if (oneof != null) {
                    seenOneofs.set(oneof.getIndex());
                }
                Object value = value(into, field, depth);
                if (value != null) {
                    into.setField(field, value);
                }
            }
        }
    }

    private void list(Message.Builder into, FieldDescriptor field, int depth) throws MalformedJson {
        if (in.peek() != '[') {
            throw in.unexpected();
        }
        in.open();
        while (in.more(']')) {
            Object value = value(into, field, depth);
            if (value != null) {
                into.addRepeatedField(field, value);
            }
        }
    }

    /** Returns null for the unknown name of an enum, which is ignored. */
    private @Nullable Object value(Message.Builder into, FieldDescriptor field, int depth) throws MalformedJson {
        if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
            Message.Builder nested = into.newBuilderForField(field);
            message(nested, depth + 1);
            return nested.build();
        }
        int at = in.position();
        try {
            return scalar(field);
        } catch (UnfitValue e) {
            throw in.wrong(
                    at,
                    "invalid value for " + field.getType().name().toLowerCase(Locale.ROOT) + " field "
                            + field.getJsonName() + ": " + in.raw(at));
        }
    }

    private @Nullable Object scalar(FieldDescriptor field) throws MalformedJson, UnfitValue {
        return switch (field.getType()) {
            case BOOL -> in.bool();
            case STRING -> in.string();
            case BYTES -> UnsafeByteOperations.unsafeWrap(Base64Text.decode(in.string()));
            case ENUM -> named(field);
            case INT64, SINT64, SFIXED64 -> in.integer(Long.MIN_VALUE, Long.MAX_VALUE);
            case INT32, SINT32, SFIXED32 -> (int) in.integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case UINT64, FIXED64 -> in.unsigned();
            case UINT32, FIXED32 -> (int) in.integer(0, 0xffff_ffffL);
            case DOUBLE, FLOAT, GROUP, MESSAGE ->
                throw new IllegalArgumentException("unsupported field type: " + field);
        };
    }

    /** Returns null for an unknown name. */
    private @Nullable EnumValueDescriptor named(FieldDescriptor field) throws MalformedJson, UnfitValue {
        return in.peek() == '"'
                ? field.getEnumType().findValueByName(in.string())
                : field.getEnumType()
                        .findValueByNumberCreatingIfUnknown((int) in.integer(Integer.MIN_VALUE, Integer.MAX_VALUE));
    }

    /** Bytes in a request. */
    private static final class Base64Text {

        private Base64Text() {}

        /**
         * Decodes either alphabet, with padding or, by its length, without; line breaks don't count.
         *
         * @throws UnfitValue if it isn't base64
         */
        static byte[] decode(String text) throws UnfitValue {
            boolean padded = text.length() % 4 == 0;
            boolean url = text.indexOf('-') >= 0 || text.indexOf('_') >= 0;
            String clean = text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0 ? text.replaceAll("[\r\n]", "") : text;
            if (padded ? clean.length() % 4 != 0 : clean.indexOf('=') >= 0) {
                throw new UnfitValue();
            }
            try {
                return (url ? Base64.getUrlDecoder() : Base64.getDecoder())
                        .decode(clean.getBytes(StandardCharsets.ISO_8859_1));
            } catch (IllegalArgumentException e) {
                throw new UnfitValue();
            }
        }
    }
}
