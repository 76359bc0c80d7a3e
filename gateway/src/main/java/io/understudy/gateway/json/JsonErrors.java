package io.understudy.gateway.json;

import io.grpc.Status;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.understudy.gateway.api.ApiException;

/** Refusals as JSON. */
final class JsonErrors {

    private static final byte[] ERROR = JsonBytes.name("error");
    private static final byte[] CODE = JsonBytes.name("code");
    private static final byte[] GRPC_CODE = JsonBytes.name("grpc_code");
    private static final byte[] HTTP_CODE = JsonBytes.name("http_code");
    private static final byte[] HTTP_STATUS = JsonBytes.name("http_status");
    private static final byte[] MESSAGE = JsonBytes.name("message");

    private JsonErrors() {}

    static byte[] body(JsonForm form, Status.Code code, String text) {
        JsonBytes out = new JsonBytes(form).open('{');
        if (form.errorsRepeatText() && !text.isEmpty()) {
            out.member(ERROR).string(text);
        }
        out.member(CODE).decimal(code.value());
        if (!text.isEmpty()) {
            out.member(MESSAGE).string(text);
        }
        return out.close('}').toByteArray();
    }

    /** Writes the error as the last line of a stream. */
    static void writeStreamed(JsonBytes out, JsonForm form, ApiException why) {
        Status.Code code = why.code();
        boolean first = form.errorsRepeatText();
        out.open('{').member(ERROR).open('{');
        out.member(first ? GRPC_CODE : CODE).decimal(code.value());
        int status = httpStatus(form, code);
        if (first) {
            out.member(HTTP_CODE).decimal(status);
        }
        if (!why.text().isEmpty()) {
            out.member(MESSAGE).string(why.text());
        }
        if (first) {
            out.member(HTTP_STATUS).string(HttpResponseStatus.valueOf(status).reasonPhrase());
        }
        out.close('}').close('}');
    }

    /** HTTP status as by {@code HTTPStatusFromCode} in grpc-gateway's {@code runtime/errors.go}. */
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
