package io.understudy.gateway.forward;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.WireFormat;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.EtcdSchema;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rejects requests with enum values that etcd's schema lacks. An alarm request with an unknown action ends the process
 * of every etcd version. Unknown fields are skipped. Only requests that can have an enum value are read.
 */
final class EnumValues {

    private static final String PACKAGE = "etcdserverpb.";
    /** As in {@link CodedInputStream}. */
    private static final int MAX_DEPTH = 100;

    private static final Map<String, Type> BY_METHOD = byMethod();

    /** A message type: its enum fields, and its fields of messages with such fields. */
    private static final class Type {
        private final Map<Integer, FieldDescriptor> enums = new HashMap<>();
        private final Map<Integer, Type> messages = new HashMap<>();
    }

    private EnumValues() {}

    /** Returns why {@code request} is rejected; null if it is not. Undecodable requests are rejected too. */
    static @Nullable ApiException refusal(EtcdMethod method, byte[] request) {
        Type type = BY_METHOD.get(method.fullName());
        if (type == null) {
            return null;
        }
        try {
            return refusal(type, CodedInputStream.newInstance(request), 0);
        } catch (IOException e) {
            return undecodable();
        }
    }

    private static @Nullable ApiException refusal(Type type, CodedInputStream in, int depth) throws IOException {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            int number = WireFormat.getTagFieldNumber(tag);
            int wireType = WireFormat.getTagWireType(tag);
            FieldDescriptor field = type.enums.get(number);
            Type message = type.messages.get(number);
            ApiException found = null;
            if (field != null && wireType == WireFormat.WIRETYPE_VARINT) {
                found = refusal(field, in.readEnum());
            } else if (wireType == WireFormat.WIRETYPE_LENGTH_DELIMITED && (field != null || message != null)) {
                int outer = in.pushLimit(in.readRawVarint32());
                found = message == null ? packed(field, in) : nested(message, in, depth + 1);
                if (found == null) {
                    in.popLimit(outer);
                }
            } else if (!in.skipField(tag)) {
                return undecodable();
            }
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** etcd's decoder accepts more than this one, so it could read an enum value here. */
    private static ApiException undecodable() {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "understudy: request cannot be decoded");
    }

    private static @Nullable ApiException nested(Type type, CodedInputStream in, int depth) throws IOException {
        return depth > MAX_DEPTH
                ? new ApiException(
                        Status.Code.INVALID_ARGUMENT,
                        "understudy: request nests messages deeper than " + MAX_DEPTH + " levels")
                : refusal(type, in, depth);
    }

    private static @Nullable ApiException packed(@Nullable FieldDescriptor field, CodedInputStream in)
            throws IOException {
        while (field != null && !in.isAtEnd()) {
            ApiException found = refusal(field, in.readEnum());
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static @Nullable ApiException refusal(FieldDescriptor field, int value) {
        return field.getEnumType().findValueByNumber(value) == null
                ? ApiException.unknownValue(field.getContainingType().getName() + "." + field.getName(), value)
                : null;
    }

    private static Map<String, Type> byMethod() {
        EtcdSchema schema = new EtcdSchema();
        Map<String, Type> methods = new HashMap<>();
        Map<Descriptor, Type> types = new HashMap<>();
        for (EtcdMethod method : EtcdMethod.ALL) {
            String[] name = method.fullName().split("[./]", -1);
            Descriptor request = method.fullName().startsWith(PACKAGE) ? schema.request(name[1], name[2]) : null;
            if (request != null && hasEnum(request, new HashSet<>())) {
                methods.put(method.fullName(), type(request, types));
            }
        }
        return Map.copyOf(methods);
    }

    private static Type type(Descriptor message, Map<Descriptor, Type> types) {
        Type known = types.get(message);
        if (known != null) {
            return known;
        }
        Type type = new Type();
        types.put(message, type);
        for (FieldDescriptor field : message.getFields()) {
            if (field.getJavaType() == FieldDescriptor.JavaType.ENUM) {
                type.enums.put(field.getNumber(), field);
            } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                    && hasEnum(field.getMessageType(), new HashSet<>())) {
                type.messages.put(field.getNumber(), type(field.getMessageType(), types));
            }
        }
        return type;
    }

    private static boolean hasEnum(Descriptor message, Set<Descriptor> seen) {
        return seen.add(message)
                && message.getFields().stream()
                        .anyMatch(field -> field.getJavaType() == FieldDescriptor.JavaType.ENUM
                                || (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                                        && hasEnum(field.getMessageType(), seen)));
    }
}
