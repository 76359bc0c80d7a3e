package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.understudy.gateway.api.ApiException;
import io.vertx.core.json.JsonObject;
import java.util.Set;

/**
 * A failed request as problem details of RFC 9457. Carries no stack trace.
 *
 * <p>{@code type} is left out, which means {@code about:blank}: the title is that of the status. {@code code} is gRPC's
 * name of the error, which distinguishes errors that share a status.
 */
final class ProblemDetails extends Exception {

    static final String CONTENT_TYPE = "application/problem+json";

    /** etcd's texts for missing, wrong or outdated credentials. */
    private static final Set<String> UNAUTHENTICATED_TEXTS = Set.of(
            ApiException.userNameEmpty().text(),
            "etcdserver: authentication failed, invalid user ID or password",
            "etcdserver: revision of auth store is old");

    private static final String COMPACTED = "has been compacted";

    private final int status;
    private final Status.Code code;

    ProblemDetails(int status, Status.Code code, String detail) {
        super(detail, null, false, false);
        this.status = status;
        this.code = code;
    }

    /** An invalid request. */
    static ProblemDetails badRequest(String detail) {
        return new ProblemDetails(400, Status.Code.INVALID_ARGUMENT, detail);
    }

    static ProblemDetails notFound(String detail) {
        return new ProblemDetails(404, Status.Code.NOT_FOUND, detail);
    }

    static ProblemDetails methodNotAllowed(String method) {
        return new ProblemDetails(
                405, Status.Code.UNIMPLEMENTED, "method " + method + " is not allowed; allowed: GET, HEAD");
    }

    /** Returns the problem of a rejected or failed read. */
    static ProblemDetails of(Throwable why) {
        if (why instanceof ProblemDetails problem) {
            return problem;
        }
        return why instanceof ApiException refusal
                ? new ProblemDetails(status(refusal), refusal.code(), refusal.text())
                : new ProblemDetails(500, Status.Code.INTERNAL, "understudy: " + why);
    }

    private static int status(ApiException why) {
        return switch (why.code()) {
            case OK -> throw new IllegalArgumentException("status is OK");
            case OUT_OF_RANGE -> why.text().contains(COMPACTED) ? 410 : 400;
            case INVALID_ARGUMENT -> UNAUTHENTICATED_TEXTS.contains(why.text()) ? 401 : 400;
            case UNAUTHENTICATED -> 401;
            case PERMISSION_DENIED -> 403;
            case NOT_FOUND -> 404;
            case ALREADY_EXISTS, ABORTED, FAILED_PRECONDITION -> 409;
            case RESOURCE_EXHAUSTED -> 429;
            case UNIMPLEMENTED -> 501;
            case CANCELLED, UNAVAILABLE -> 503;
            case DEADLINE_EXCEEDED -> 504;
            case UNKNOWN, INTERNAL, DATA_LOSS -> 500;
        };
    }

    int status() {
        return status;
    }

    /** Whether the gateway itself failed. */
    boolean isFault() {
        return code == Status.Code.INTERNAL;
    }

    String body() {
        return new JsonObject()
                .put("title", HttpResponseStatus.valueOf(status).reasonPhrase())
                .put("status", status)
                .put("detail", getMessage())
                .put("code", code.name())
                .encode();
    }
}
