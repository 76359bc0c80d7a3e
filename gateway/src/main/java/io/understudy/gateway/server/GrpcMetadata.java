package io.understudy.gateway.server;

import io.grpc.Metadata;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Base64;
import java.util.Map;
import java.util.Set;

/** Headers of HTTP/2 as metadata of gRPC, and the reverse. */
final class GrpcMetadata {

    /** Headers of the protocol itself. */
    private static final Set<String> OF_THE_PROTOCOL = Set.of(
            "content-type",
            "grpc-accept-encoding",
            "grpc-encoding",
            "grpc-message",
            "grpc-status",
            "grpc-timeout",
            "te",
            "user-agent");

    private GrpcMetadata() {}

    static Metadata of(Http2Headers headers) {
        Metadata metadata = new Metadata();
        for (Map.Entry<CharSequence, CharSequence> header : headers) {
            String name = header.getKey().toString();
            if (name.startsWith(":") || OF_THE_PROTOCOL.contains(name)) {
                continue;
            }
            try {
                add(metadata, name, header.getValue().toString());
            } catch (IllegalArgumentException e) {
                // A name or value that gRPC does not allow is ignored.
            }
        }
        return metadata;
    }

    private static void add(Metadata metadata, String name, String value) {
        if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
            metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
            return;
        }
        for (String each : value.split(",", -1)) {
            metadata.put(
                    Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER),
                    Base64.getDecoder().decode(each.strip()));
        }
    }

    /** Adds the metadata to headers. */
    static void addTo(Http2Headers headers, Metadata metadata) {
        for (String name : metadata.keys()) {
            if (OF_THE_PROTOCOL.contains(name)) {
                continue;
            }
            if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                for (byte[] value : values(metadata, Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER))) {
                    headers.add(name, Base64.getEncoder().withoutPadding().encodeToString(value));
                }
            } else {
                for (String value : values(metadata, Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER))) {
                    headers.add(name, value);
                }
            }
        }
    }

    private static <T> Iterable<T> values(Metadata metadata, Metadata.Key<T> key) {
        Iterable<T> values = metadata.getAll(key);
        return values == null ? Set.of() : values;
    }
}
