package io.understudy.gateway.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import com.google.protobuf.UnsafeByteOperations;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages from JSON as etcd does. It accepts original and camel-case names, numbers with or without quotes,
 * base64 of both alphabets, enums by name or number; unknown names are ignored.
 *
 * <p>{@code jsonpb} of etcd 3.5 rejects unknown names of enums, numbers with a fraction or an exponent, and base64 of
 * another alphabet or without padding. Of fields that exclude each other, or occur twice, the last one counts.
 *
 * <p>Thread-safe.
 */
final class MessageReader {

    /** Maximum nesting of messages, as in protobuf for Java. */
    private static final int MAX_DEPTH = 100;

    /** Bodies are bounded, so nothing in them needs to be. Arrays and objects nest as deeply as in Go's encoding/json. */
    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(10_000)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private static final BigInteger MOST_UNSIGNED = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    /** What follows the number is ignored, except for space at the end. */
    private static final Pattern NUMBER =
            Pattern.compile("(-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![-+._a-zA-Z0-9])");

    /** The numbers of {@code jsonpb}, with the space around them in a string. */
    private static final Pattern INTEGER = Pattern.compile("[ \\t\\r\\n]*(-?(?:0|[1-9][0-9]*))[ \\t\\r\\n]*");

    private final Map<Descriptor, Map<String, FieldDescriptor>> names = new HashMap<>();

    /** Supports these types and all nested ones. */
    MessageReader(Collection<Descriptor> types) {
        types.forEach(this::learn);
    }

    private void learn(Descriptor type) {
        if (names.containsKey(type)) {
            return;
        }
        Map<String, FieldDescriptor> fields = new HashMap<>();
        for (FieldDescriptor field : type.getFields()) {
            fields.put(field.getName(), field);
            fields.put(field.getJsonName(), field);
        }
        names.put(type, fields);
        for (FieldDescriptor field : type.getFields()) {
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                learn(field.getMessageType());
            }
        }
    }

    /**
     * Reads the first value of {@code body} into an empty message; none for a blank body.
     *
     * @throws MalformedJson if it is no message of the type
     */
    <B extends Message.Builder> B read(byte[] body, B into, JsonForm form) throws MalformedJson {
        boolean unused = new Values(body, form).read(into);
        return into;
    }

    /** The messages of a body, and its error if any. */
    record Messages(List<byte[]> encoded, @Nullable MalformedJson broken) {}

    /** Reads the values of {@code body} up to the first invalid one. */
    Messages readAll(byte[] body, Descriptor type, JsonForm form) {
        List<byte[]> encoded = new ArrayList<>();
        try {
            Values values = new Values(body, form);
            DynamicMessage.Builder into = DynamicMessage.newBuilder(type);
            while (values.read(into)) {
                encoded.add(into.build().toByteArray());
                into = DynamicMessage.newBuilder(type);
            }
            return new Messages(encoded, null);
        } catch (MalformedJson e) {
            return new Messages(encoded, e);
        }
    }

    /** The values of a body. */
    private final class Values {

        private final byte[] body;
        private final JsonParser in;
        private final boolean byJsonpb;

        Values(byte[] sent, JsonForm form) throws MalformedJson {
            this.byJsonpb = form.parsesByJsonpb();
            // encoding/json replaces bytes that are not UTF-8.
            this.body = byJsonpb ? new String(sent, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8) : sent;
            // Jackson takes these for other encodings, or for a byte order mark.
            for (int i = 0; i < Math.min(4, body.length); i++) {
                if (body[i] == 0 || (i == 0 && body[i] < 0)) {
                    throw new MalformedJson("invalid character at the beginning");
                }
            }
            try {
                this.in = JSON.createParser(body);
            } catch (IOException e) {
                throw malformed(e);
            }
        }

        /** Reads the next value; returns false if the rest is blank. What follows it is not looked at. */
        boolean read(Message.Builder into) throws MalformedJson {
            int begin = (int) in.currentLocation().getByteOffset();
            try {
                if (in.nextToken() == null) {
                    return false;
                }
                if (!byJsonpb || in.currentToken() != JsonToken.VALUE_NULL) {
                    message(into, 1);
                }
                int length = (int) in.currentLocation().getByteOffset() - begin;
                // Jackson accepts overlong forms and surrogates.
                var unused = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body, begin, length));
                return true;
            } catch (CharacterCodingException e) {
                throw new MalformedJson("invalid UTF-8");
            } catch (IOException e) {
                throw malformed(e);
            }
        }

        private static MalformedJson malformed(IOException e) {
            return new MalformedJson(
                    e instanceof JsonProcessingException syntax
                            ? syntax.getOriginalMessage()
                            : String.valueOf(e.getMessage()));
        }

        private void message(Message.Builder into, int depth) throws IOException, MalformedJson {
            if (depth > MAX_DEPTH) {
                throw new MalformedJson("exceeded max recursion depth");
            }
            require(JsonToken.START_OBJECT);
            Map<String, FieldDescriptor> fields = names.getOrDefault(into.getDescriptorForType(), Map.of());
            BitSet seen = new BitSet();
            BitSet seenOneofs = new BitSet();
            while (next() != JsonToken.END_OBJECT) {
                String name = in.currentName();
                FieldDescriptor field = fields.get(name);
                JsonToken value = next();
                if (field == null) {
                    in.skipChildren();
                    continue;
                }
                if (byJsonpb) {
                    into.clearField(field);
                } else if (seen.get(field.getIndex())) {
                    throw new MalformedJson("duplicate field \"" + name + '"');
                }
                seen.set(field.getIndex());
                if (value == JsonToken.VALUE_NULL) {
                    continue;
                }
                if (field.isRepeated()) {
                    list(into, field, depth);
                    continue;
                }
                OneofDescriptor oneof = field.getRealContainingOneof();
                if (oneof != null && !byJsonpb && seenOneofs.get(oneof.getIndex())) {
                    throw new MalformedJson("\"" + name + "\": oneof " + oneof.getFullName() + " is already set");
                }
                if (oneof != null) {
                    seenOneofs.set(oneof.getIndex());
                }
                Object read = value(into, field, depth);
                if (read != null && !isOverridden(into, field, oneof)) {
                    into.setField(field, read);
                }
            }
        }

        /** Whether a field that excludes this one follows it in the type: {@code jsonpb} sets fields in that order. */
        private static boolean isOverridden(
                Message.Builder into, FieldDescriptor field, @Nullable OneofDescriptor oneof) {
            return oneof != null
                    && into.hasOneof(oneof)
                    && into.getOneofFieldDescriptor(oneof).getIndex() > field.getIndex();
        }

        private JsonToken next() throws IOException, MalformedJson {
            JsonToken token = in.nextToken();
            if (!byJsonpb
                    && (token == JsonToken.FIELD_NAME || token == JsonToken.VALUE_STRING)
                    && !hasPairs(in.getText())) {
                throw new MalformedJson("invalid escape code in string");
            }
            return token;
        }

        private void list(Message.Builder into, FieldDescriptor field, int depth) throws IOException, MalformedJson {
            require(JsonToken.START_ARRAY);
            while (next() != JsonToken.END_ARRAY) {
                Object value = value(into, field, depth);
                if (value != null) {
                    into.addRepeatedField(field, value);
                }
            }
        }

        private void require(JsonToken token) throws MalformedJson {
            if (in.currentToken() != token) {
                throw new MalformedJson("expected " + token.asString() + ", found " + in.currentToken());
            }
        }

        /** Returns null for the unknown name of an enum, if it is ignored. */
        private @Nullable Object value(Message.Builder into, FieldDescriptor field, int depth)
                throws IOException, MalformedJson {
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                Message.Builder nested = into.newBuilderForField(field);
                // An element of a list is the empty message.
                if (!byJsonpb || in.currentToken() != JsonToken.VALUE_NULL) {
                    message(nested, depth + 1);
                }
                return nested.build();
            }
            try {
                return scalar(field);
            } catch (IllegalArgumentException e) {
                throw new MalformedJson("invalid value for field " + field.getJsonName());
            }
        }

        /** @throws IllegalArgumentException the value is not of the field's type */
        private @Nullable Object scalar(FieldDescriptor field) throws IOException {
            return switch (field.getType()) {
                case BOOL -> bool();
                case STRING -> string();
                case BYTES -> UnsafeByteOperations.unsafeWrap(decoded(string(), byJsonpb));
                case ENUM ->
                    in.currentToken() == JsonToken.VALUE_STRING
                            ? named(field.getEnumType())
                            : field.getEnumType().findValueByNumberCreatingIfUnknown((int)
                                    integer(Integer.MIN_VALUE, Integer.MAX_VALUE));
                case INT64, SINT64, SFIXED64 -> integer(Long.MIN_VALUE, Long.MAX_VALUE);
                case INT32, SINT32, SFIXED32 -> (int) integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
                case UINT64, FIXED64 -> unsigned();
                case UINT32, FIXED32 -> (int) integer(0, 0xffff_ffffL);
                case DOUBLE, FLOAT, GROUP, MESSAGE -> throw new IllegalStateException("unsupported field: " + field);
            };
        }

        private @Nullable EnumValueDescriptor named(EnumDescriptor type) throws IOException {
            EnumValueDescriptor value = type.findValueByName(in.getText());
            if (value == null && byJsonpb) {
                throw new IllegalArgumentException();
            }
            return value;
        }

        private boolean bool() {
            if (!in.currentToken().isBoolean()) {
                throw new IllegalArgumentException();
            }
            return in.currentToken() == JsonToken.VALUE_TRUE;
        }

        private String string() throws IOException {
            if (in.currentToken() != JsonToken.VALUE_STRING || (byJsonpb && !hasPairs(in.getText()))) {
                throw new IllegalArgumentException();
            }
            return in.getText();
        }

        /** An integer, as a number in any notation or a string with one. */
        private long integer(long least, long most) throws IOException {
            BigInteger value = whole();
            if (value.compareTo(BigInteger.valueOf(least)) < 0 || value.compareTo(BigInteger.valueOf(most)) > 0) {
                throw new IllegalArgumentException();
            }
            return value.longValue();
        }

        private long unsigned() throws IOException {
            BigInteger value = whole();
            if (value.signum() < 0 || value.compareTo(MOST_UNSIGNED) > 0) {
                throw new IllegalArgumentException();
            }
            return value.longValue();
        }

        private BigInteger whole() throws IOException {
            boolean isNumber = in.currentToken().isNumeric();
            String text = isNumber ? in.getText() : string();
            if (byJsonpb) {
                Matcher integer = INTEGER.matcher(text);
                if (!integer.matches()) {
                    throw new IllegalArgumentException();
                }
                return WholeNumber.of(integer.group(1));
            }
            if (isNumber) {
                return WholeNumber.of(text);
            }
            Matcher number = NUMBER.matcher(text);
            if (!number.lookingAt() || !text.stripTrailing().equals(text)) {
                throw new IllegalArgumentException();
            }
            return WholeNumber.of(number.group(1));
        }
    }

    /** Whether no escape left half of a surrogate pair. */
    private static boolean hasPairs(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                if (i + 1 == text.length() || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    /**
     * Decodes base64 of either alphabet, with padding or, by its length, without; line breaks don't count.
     *
     * @param standard whether it must be of the standard alphabet, with padding
     * @throws IllegalArgumentException if it is not base64
     */
    private static byte[] decoded(String text, boolean standard) {
        boolean padded = standard || text.length() % 4 == 0;
        boolean url = !standard && (text.indexOf('-') >= 0 || text.indexOf('_') >= 0);
        String clean = text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0 ? text.replaceAll("[\r\n]", "") : text;
        if (padded ? clean.length() % 4 != 0 : clean.indexOf('=') >= 0) {
            throw new IllegalArgumentException();
        }
        return (url ? Base64.getUrlDecoder() : Base64.getDecoder()).decode(clean.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** A request body that is not valid. Has no stack trace: it is an answer, not a fault. */
    static final class MalformedJson extends Exception {

        MalformedJson(String what) {
            super("proto: " + what, null, false, false);
        }

        /** Returns the text of the error. */
        String text() {
            return String.valueOf(getMessage());
        }
    }
}
