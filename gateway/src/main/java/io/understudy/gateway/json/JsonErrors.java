package io.understudy.gateway.json;

import io.grpc.Status;

/** Refusals as JSON. */
final class JsonErrors {

    private static final byte[] ERROR = JsonBytes.name("error");
    private static final byte[] CODE = JsonBytes.name("code");
    private static final byte[] MESSAGE = JsonBytes.name("message");

    private JsonErrors() {}

    static byte[] body(JsonForm form, Status.Code code, String text) {
        JsonBytes out = new JsonBytes(form).open('{');
        if (form.errorsSayError() && !text.isEmpty()) {
            out.member(ERROR).string(text);
        }
        out.member(CODE).decimal(code.value());
        if (!text.isEmpty()) {
            out.member(MESSAGE).string(text);
        }
        return out.close('}').toByteArray();
    }

    /** As {@code HTTPStatusFromCode} in grpc-gateway's {@code runtime/errors.go}. */
    static int httpStatus(JsonForm form, Status.Code code) {
        return switch (code) {
            case OK -> 200;
            case CANCELLED -> form.cancelledStatus();
            case INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE -> 400;
            case UNAUTHENTICATED -> 401;
            case PERMISSION_DENIED -> 403;
            case NOT_FOUND -> 404;
            case ALREADY_EXISTS, ABORTED -> 409;
            case RESOURCE_EXHAUSTED -> 429;
            case UNKNOWN, INTERNAL, DATA_LOSS -> 500;
            case UNIMPLEMENTED -> 501;
            case UNAVAILABLE -> 503;
            case DEADLINE_EXCEEDED -> 504;
        };
    }
}
