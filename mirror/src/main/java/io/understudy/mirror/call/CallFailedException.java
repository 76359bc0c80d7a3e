package io.understudy.mirror.call;

import io.grpc.Status;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.Remedy;
import org.jspecify.annotations.Nullable;

/** An attempt at a call failed; the message names the endpoint and the cause. */
public final class CallFailedException extends Exception {

    private final Remedy remedy;
    private final EtcdError error;

    CallFailedException(String message) {
        super(message);
        this.remedy = Remedy.LATER;
        this.error = EtcdError.OTHER;
    }

    public CallFailedException(Endpoint endpoint, EtcdFailure failure, @Nullable Throwable cause) {
        super(endpoint + " failed: " + failure, cause);
        this.remedy = failure.remedy();
        // A login before the call fails with a text that ends so, and another one may succeed.
        this.error =
                failure.message().endsWith(EtcdError.LOGIN_FAILED.message()) ? EtcdError.LOGIN_FAILED : failure.error();
    }

    /** Whether another attempt would fail the same way, so that an operator is needed. */
    public boolean isFinal() {
        return remedy == Remedy.FATAL || remedy == Remedy.CALLERS_FAULT;
    }

    /** Whether it had no effect: it is final, and no earlier attempt, which is suppressed, lacks a response. */
    public boolean isRefused() {
        return isFinal() && getSuppressed().length == 0;
    }

    /** Whether the request or its response is larger than one side allows. */
    public boolean isMessageTooLarge() {
        return EtcdErrors.isMessageTooLarge(Status.fromThrowable(this));
    }

    /** Returns the error of etcd. */
    public EtcdError error() {
        return error;
    }
}
