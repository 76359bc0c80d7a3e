package io.understudy.gateway.json;

import io.grpc.Status;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.server.WebRequest;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Who calls by JSON: what gRPC has as metadata comes in headers, named as grpc-gateway names them. */
final class JsonCallers {

    private static final AsciiString MAX_STALENESS = AsciiString.cached("grpc-metadata-" + Freshness.MAX_STALENESS_KEY);
    private static final AsciiString MIN_REVISION = AsciiString.cached("grpc-metadata-" + Freshness.MIN_REVISION_KEY);
    private static final AsciiString REQUIRES_LEADER =
            AsciiString.cached("grpc-metadata-" + Freshness.REQUIRES_LEADER_KEY);

    private JsonCallers() {}

    static Caller of(WebRequest request, BooleanSupplier gone) throws ApiException {
        return new Caller(
                request.principal(), request.session(), freshness(request), deadline(request), gone, request::whenOver);
    }

    private static Freshness freshness(WebRequest request) throws ApiException {
        return Freshness.ofMetadata(
                text(request.header(MAX_STALENESS)),
                text(request.header(MIN_REVISION)),
                text(request.header(REQUIRES_LEADER)));
    }

    private static @Nullable String text(@Nullable CharSequence value) {
        return value == null ? null : value.toString();
    }

    private static long deadline(WebRequest request) throws ApiException {
        try {
            return request.deadlineNanos();
        } catch (NumberFormatException e) {
            throw new ApiException(Status.Code.INVALID_ARGUMENT, "invalid grpc-timeout: " + e.getMessage());
        }
    }
}
