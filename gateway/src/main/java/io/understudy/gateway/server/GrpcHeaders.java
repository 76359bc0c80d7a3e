package io.understudy.gateway.server;

import io.grpc.Metadata;
import io.grpc.Status;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.util.AsciiString;
import io.understudy.gateway.caller.Caller;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** gRPC's headers and trailers over HTTP/2: see PROTOCOL-HTTP2.md in gRPC's repository. */
final class GrpcHeaders {

    static final AsciiString STATUS = AsciiString.cached("grpc-status");
    static final AsciiString MESSAGE = AsciiString.cached("grpc-message");
    static final AsciiString ENCODING = AsciiString.cached("grpc-encoding");
    static final AsciiString TIMEOUT = AsciiString.cached("grpc-timeout");
    static final AsciiString CONTENT_TYPE = AsciiString.cached("content-type");

    private static final AsciiString GRPC = AsciiString.cached("application/grpc");
    private static final AsciiString HTTP_OK = AsciiString.cached("200");
    private static final char[] HEX = "0123456789ABCDEF".toCharArray();

    private static final Http2Headers PLAIN = ReadOnlyHttp2Headers.serverHeaders(false, HTTP_OK, CONTENT_TYPE, GRPC);
    private static final Http2Headers WELL = ReadOnlyHttp2Headers.trailers(false, STATUS, AsciiString.cached("0"));

    private GrpcHeaders() {}

    /** Whether a request with this content type is meant for gRPC. Not gRPC-Web, which is another protocol. */
    static boolean meantBy(@Nullable CharSequence contentType) {
        if (contentType == null || !startsWith(contentType, GRPC)) {
            return false;
        }
        if (contentType.length() == GRPC.length()) {
            return true;
        }
        char next = contentType.charAt(GRPC.length());
        return next == '+' || next == ';';
    }

    /** Whether messages are protobuf, by the content type. */
    static boolean protobuf(CharSequence contentType) {
        CharSequence rest = contentType.subSequence(GRPC.length(), contentType.length());
        return rest.isEmpty() || rest.charAt(0) == ';' || startsWith(rest, "+proto");
    }

    private static boolean startsWith(CharSequence text, CharSequence beginning) {
        return AsciiString.regionMatches(text, false, 0, beginning, 0, beginning.length());
    }

    /** The head of an answer. */
    static Http2Headers head(List<Field> fields) {
        if (fields.isEmpty()) {
            return PLAIN;
        }
        Http2Headers head = new DefaultHttp2Headers(false, 2 + fields.size())
                .status(HTTP_OK)
                .set(CONTENT_TYPE, GRPC);
        for (Field field : fields) {
            head.add(field.name(), field.value());
        }
        return head;
    }

    /** Adds the head of an answer to trailers. */
    static void begin(Http2Headers trailers) {
        trailers.status(HTTP_OK).set(CONTENT_TYPE, GRPC);
    }

    /** Whether a header's value must not be indexed: it differs each time. */
    static boolean isSensitive(CharSequence name) {
        return name == Reply.STALENESS;
    }

    /** The trailers of an answered call. */
    static Http2Headers ok() {
        return WELL;
    }

    /** Adds the status to trailers, or to headers if there is no body. */
    static Http2Headers with(Http2Headers headers, Status.Code code, @Nullable String message) {
        headers.set(STATUS, Integer.toString(code.value()));
        if (message != null && !message.isEmpty()) {
            headers.set(MESSAGE, percentEncoded(message));
        }
        return headers;
    }

    /** Escapes all but printable ASCII, and the percent sign. */
    static String percentEncoded(String message) {
        byte[] utf8 = message.getBytes(StandardCharsets.UTF_8);
        StringBuilder encoded = new StringBuilder(utf8.length + 16);
        for (byte each : utf8) {
            if (each >= ' ' && each <= '~' && each != '%') {
                encoded.append((char) each);
            } else {
                encoded.append('%').append(HEX[each >> 4 & 15]).append(HEX[each & 15]);
            }
        }
        return encoded.toString();
    }

    /**
     * Returns the deadline by {@link System#nanoTime}; {@link Caller#NO_DEADLINE} without a timeout.
     *
     * @throws NumberFormatException if the timeout is malformed
     */
    static long deadlineNanos(@Nullable CharSequence timeout, long nowNanos) {
        if (timeout == null || timeout.isEmpty()) {
            return Caller.NO_DEADLINE;
        }
        int digits = timeout.length() - 1;
        if (digits < 1 || digits > 8) {
            throw new NumberFormatException(timeout.toString());
        }
        for (int i = 0; i < digits; i++) {
            if (timeout.charAt(i) < '0' || timeout.charAt(i) > '9') {
                throw new NumberFormatException(timeout.toString());
            }
        }
        long number = Long.parseLong(timeout, 0, digits, 10);
        TimeUnit unit =
                switch (timeout.charAt(digits)) {
                    case 'H' -> TimeUnit.HOURS;
                    case 'M' -> TimeUnit.MINUTES;
                    case 'S' -> TimeUnit.SECONDS;
                    case 'm' -> TimeUnit.MILLISECONDS;
                    case 'u' -> TimeUnit.MICROSECONDS;
                    case 'n' -> TimeUnit.NANOSECONDS;
                    default -> throw new NumberFormatException(timeout.toString());
                };
        // Bounded to about a hundred years, so that it neither overflows nor equals NO_DEADLINE.
        return nowNanos + Math.min(unit.toNanos(number), TimeUnit.DAYS.toNanos(36_500));
    }

    /** Headers of HTTP/2 as metadata of gRPC, and the reverse. */
    static final class GrpcMetadata {

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
}
