package io.understudy.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Map;

/** A form in which etcd takes ranges. */
enum Api {
    GRPC("gRPC", "/etcdserverpb.KV/Range", Map.of("content-type", "application/grpc", "te", "trailers")) {
        @Override
        ByteString request(RangeRequest range) {
            return range.toByteString();
        }

        @Override
        Object content(byte[] answer) {
            try {
                return RangeResponse.parseFrom(answer).toBuilder().clearHeader().build();
            } catch (InvalidProtocolBufferException e) {
                throw new UncheckedIOException("invalid range response", e);
            }
        }
    },
    JSON("JSON", "/v3/kv/range", Map.of("content-type", "application/json")) {
        @Override
        ByteString request(RangeRequest range) {
            Base64.Encoder base64 = Base64.getEncoder();
            ObjectNode body = new ObjectMapper().createObjectNode();
            body.put("key", base64.encodeToString(range.getKey().toByteArray()));
            if (!range.getRangeEnd().isEmpty()) {
                body.put("range_end", base64.encodeToString(range.getRangeEnd().toByteArray()));
            }
            if (range.getSerializable()) {
                body.put("serializable", true);
            }
            return ByteString.copyFromUtf8(body.toString());
        }

        @Override
        Object content(byte[] answer) {
            try {
                JsonNode tree = new ObjectMapper().readTree(answer);
                return tree instanceof ObjectNode object ? object.without("header") : tree;
            } catch (IOException e) {
                throw new UncheckedIOException("invalid range response", e);
            }
        }
    };

    private final String title;
    private final String path;

    @SuppressWarnings("ImmutableEnumChecker") // Map.of is
    private final Map<String, String> headers;

    Api(String title, String path, Map<String, String> headers) {
        this.title = title;
        this.path = path;
        this.headers = headers;
    }

    /** What a client sends, without gRPC's prefix. */
    abstract ByteString request(RangeRequest range);

    /**
     * All of an answer but its header, comparable by {@code equals}.
     *
     * @throws UncheckedIOException it can't be read
     */
    abstract Object content(byte[] answer);

    /** Path of the URL. */
    String path() {
        return path;
    }

    Map<String, String> headers() {
        return headers;
    }

    @Override
    public String toString() {
        return title;
    }
}
