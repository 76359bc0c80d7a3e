package io.understudy.gateway.json;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Who calls by JSON: what gRPC has as metadata comes in headers, named as grpc-gateway names them. */
final class JsonCallers {

    private static final String METADATA = "Grpc-Metadata-";
    private static final String MAX_STALENESS = "understudy-max-staleness-ms";
    private static final String MIN_REVISION = "understudy-min-revision";
    private static final int MOST_TIMEOUT_DIGITS = 8;

    private JsonCallers() {}

    static Caller of(HttpServerRequest request, Session session) throws ApiException {
        String token = request.getHeader("Authorization");
        return new Caller(
                token == null ? Principal.ANONYMOUS : new Principal.Token(token),
                session,
                freshness(request),
                deadline(request.getHeader("Grpc-Timeout")));
    }

    private static Freshness freshness(HttpServerRequest request) throws ApiException {
        String staleness = request.getHeader(METADATA + MAX_STALENESS);
        String revision = request.getHeader(METADATA + MIN_REVISION);
        if (staleness == null && revision == null) {
            return Freshness.ANY;
        }
        return new Freshness(
                staleness == null ? null : Duration.ofMillis(number(MAX_STALENESS, staleness)),
                revision == null ? 0 : number(MIN_REVISION, revision));
    }

    private static long number(String name, String text) throws ApiException {
        try {
            long number = Long.parseLong(text);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below.
        }
        throw new ApiException(
                Status.Code.INVALID_ARGUMENT,
                "understudy: " + name + " is '" + text + "'; allowed is a whole number from 0");
    }

    /** As {@code timeoutDecode} in grpc-gateway's {@code runtime/context.go}: digits, then a letter for the unit. */
    private static long deadline(@Nullable String timeout) throws ApiException {
        if (timeout == null || timeout.isEmpty()) {
            return Caller.NO_DEADLINE;
        }
        int last = timeout.length() - 1;
        String digits = timeout.substring(0, last);
        long unit =
                switch (timeout.charAt(last)) {
                    case 'H' -> 3_600_000_000_000L;
                    case 'M' -> 60_000_000_000L;
                    case 'S' -> 1_000_000_000L;
                    case 'm' -> 1_000_000L;
                    case 'u' -> 1_000L;
                    case 'n' -> 1L;
                    default -> 0L;
                };
        if (unit == 0
                || digits.isEmpty()
                || digits.length() > MOST_TIMEOUT_DIGITS
                || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new ApiException(Status.Code.INVALID_ARGUMENT, "invalid grpc-timeout: " + timeout);
        }
        // Centuries are as good as for ever, and fit.
        return System.nanoTime() + Math.min(Long.parseLong(digits), Long.MAX_VALUE / 4 / unit) * unit;
    }
}
