package io.understudy.gateway.trace;

import io.grpc.Status;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import java.util.EnumSet;
import java.util.Set;

/** OpenTelemetry's semantic conventions of server spans, without attributes that contain keys, such as paths. */
enum Convention {
    GRPC("rpc.grpc.status_code") {
        @Override
        boolean isFault(int status) {
            return FAULTS.contains(Status.fromCodeValue(status).getCode());
        }
    },
    HTTP("http.response.status_code") {
        @Override
        boolean isFault(int status) {
            return status >= 500;
        }
    };

    /** gRPC's codes of server errors. */
    private static final Set<Status.Code> FAULTS = EnumSet.of(
            Status.Code.UNKNOWN,
            Status.Code.DEADLINE_EXCEEDED,
            Status.Code.UNIMPLEMENTED,
            Status.Code.INTERNAL,
            Status.Code.UNAVAILABLE,
            Status.Code.DATA_LOSS);

    @SuppressWarnings("ImmutableEnumChecker") // immutable, but not annotated so
    private final AttributeKey<Long> status;

    Convention(String status) {
        this.status = AttributeKey.longKey(status);
    }

    /** Returns the attribute of the status. */
    AttributeKey<Long> status() {
        return status;
    }

    /** Whether a status is a server error. */
    abstract boolean isFault(int status);

    static Attributes ofMethod(String fullName) {
        int slash = fullName.indexOf('/');
        return Attributes.of(
                AttributeKey.stringKey("rpc.system"), "grpc",
                AttributeKey.stringKey("rpc.service"), fullName.substring(0, slash),
                AttributeKey.stringKey("rpc.method"), fullName.substring(slash + 1));
    }

    static Attributes ofRoute(String route) {
        return Attributes.of(
                AttributeKey.stringKey("http.request.method"), "GET", AttributeKey.stringKey("http.route"), route);
    }
}
