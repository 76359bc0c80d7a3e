package io.understudy.gateway.json;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages from JSON as etcd does. It accepts original and camel-case names, numbers with or without quotes,
 * base64 of both alphabets, enums by name or number; unknown names are ignored. Error texts are those of Go's {@code
 * protojson}. Thread-safe.
 */
final class MessageParser {

    private final Map<Descriptor, Map<String, FieldDescriptor>> names = new HashMap<>();

    /** Supports these types and all nested ones. */
    MessageParser(Collection<Descriptor> types) {
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
    <B extends Message.Builder> B read(byte[] body, B into) throws MalformedJson {
        FirstValue value = FirstValue.in(body, 0);
        if (value != null) {
            new MessageReader(names, body, value).read(into);
        }
        return into;
    }

    /** The messages of a body, and its error if any. */
    record Messages(List<byte[]> encoded, @Nullable MalformedJson broken) {}

    /** Reads the values of {@code body} up to the first invalid one. */
    Messages readAll(byte[] body, Descriptor type) {
        List<byte[]> encoded = new ArrayList<>();
        try {
            for (FirstValue value = FirstValue.in(body, 0); value != null; value = FirstValue.in(body, value.end())) {
                DynamicMessage.Builder into = DynamicMessage.newBuilder(type);
                new MessageReader(names, body, value).read(into);
                encoded.add(into.build().toByteArray());
            }
            return new Messages(encoded, null);
        } catch (MalformedJson e) {
            return new Messages(encoded, e);
        }
    }
}
