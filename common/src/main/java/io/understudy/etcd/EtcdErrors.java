package io.understudy.etcd;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.HashMap;
import java.util.Map;

/**
 * Classifies failures of requests by gRPC code and etcd's message.
 *
 * <p>Invariant E13: errors are classified in one place, and an interrupted write has an unknown outcome.
 */
public final class EtcdErrors {

    /** Text of the server's gRPC library for requests far above {@code --max-request-bytes}. */
    private static final String TOO_LARGE_FOR_GRPC = "grpc: received message larger than max";

    private static final Map<String, EtcdError> BY_MESSAGE = byMessage();

    private EtcdErrors() {}

    /**
     * Classifies a failed call for its caller.
     *
     * @param failure what a stub threw, or a future failed with; its causes are looked through
     */
    public static EtcdFailure classify(Duty duty, Throwable failure) {
        return classify(duty, Status.fromThrowable(failure));
    }

    public static EtcdFailure classify(Duty duty, Status status) {
        String message = status.getDescription() == null ? "" : status.getDescription();
        EtcdError error = error(message);
        Remedy remedy = error == EtcdError.OTHER ? remedy(status.getCode()) : error.remedy();
        if (error == EtcdError.OTHER && isMessageTooLarge(status) && duty == Duty.WRITE) {
            // That of the response: the request was served.
            remedy = Remedy.OUTCOME_UNKNOWN;
        }
        // A read has no outcome to be unsure of.
        if (remedy == Remedy.OUTCOME_UNKNOWN && duty != Duty.WRITE) {
            remedy = Remedy.ELSEWHERE;
        }
        return new EtcdFailure(
                error, remedy, status.getCode(), error == EtcdError.OTHER ? FailureText.of(status) : message);
    }

    /**
     * A failure in one line, for a status page. It includes causes such as an untrusted certificate.
     *
     * @param failure thrown by a stub or a future; its causes are examined
     */
    public static String text(Throwable failure) {
        return FailureText.of(failure);
    }

    /** Whether it is a failure of a call, so that {@link #text} includes its causes. */
    public static boolean isOfCall(Throwable failure) {
        return failure instanceof StatusRuntimeException;
    }

    /**
     * The error with that text: a status description, or a watch's cancel reason.
     *
     * @return {@link EtcdError#OTHER} if none
     */
    public static EtcdError error(String message) {
        EtcdError exact = BY_MESSAGE.get(message);
        if (exact != null) {
            return exact;
        }
        if (message.startsWith(TOO_LARGE_FOR_GRPC)) {
            return EtcdError.REQUEST_TOO_LARGE;
        }
        // A watch is refused in the long form: "rpc error: code = PermissionDenied desc = etcdserver: permission
        // denied".
        int description = message.indexOf("desc = ");
        return description < 0
                ? EtcdError.OTHER
                : BY_MESSAGE.getOrDefault(message.substring(description + "desc = ".length()), EtcdError.OTHER);
    }

    /** Whether a message exceeds what its sender or receiver allows. Rejections for load have the same code. */
    public static boolean isMessageTooLarge(Status status) {
        String text = status.getDescription() == null ? "" : status.getDescription();
        // The texts of gRPC's libraries in Go and Java.
        return status.getCode() == Status.Code.RESOURCE_EXHAUSTED
                && (text.contains("larger than max") || text.contains("exceeds maximum size"));
    }

    private static Remedy remedy(Status.Code code) {
        return switch (code) {
            case CANCELLED, DEADLINE_EXCEEDED, ABORTED, INTERNAL, UNKNOWN, UNAVAILABLE, DATA_LOSS ->
                Remedy.OUTCOME_UNKNOWN;
            case RESOURCE_EXHAUSTED -> Remedy.LATER;
            case INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, OUT_OF_RANGE -> Remedy.CALLERS_FAULT;
            case OK, PERMISSION_DENIED, UNAUTHENTICATED, UNIMPLEMENTED -> Remedy.FATAL;
        };
    }

    private static Map<String, EtcdError> byMessage() {
        Map<String, EtcdError> errors = new HashMap<>();
        for (EtcdError error : EtcdError.values()) {
            errors.put(error.message(), error);
        }
        return Map.copyOf(errors);
    }
}
