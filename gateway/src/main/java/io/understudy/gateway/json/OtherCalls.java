package io.understudy.gateway.json;

import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * Every method with one request and one answer, called with messages in their encoding; not for ranges, nor for
 * transactions that only read.
 */
@FunctionalInterface
public interface OtherCalls {

    /**
     * Answers a call; fails with an {@link io.understudy.gateway.api.ApiException} only. Called, and answers, on the
     * session's event loop.
     *
     * @param fullName such as {@code etcdserverpb.Maintenance/Status}
     * @param whenGone given what is to be run, on that loop, if nobody waits for the answer any more
     */
    Future<byte[]> call(String fullName, Caller caller, byte[] request, Consumer<Runnable> whenGone);
}
