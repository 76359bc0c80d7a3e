package io.understudy.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** gRPC calls as futures. */
public final class Calls {

    private Calls() {}

    /**
     * Makes one call.
     *
     * @return fails with an {@link io.grpc.StatusRuntimeException}, by the deadline at the latest
     */
    public static <Q, A> CompletableFuture<A> unary(
            Channel channel, MethodDescriptor<Q, A> method, Q request, Duration deadline) {
        return unary(channel, method, request, deadline, CallOptions.DEFAULT);
    }

    static <Q, A> CompletableFuture<A> unary(
            Channel channel, MethodDescriptor<Q, A> method, Q request, Duration deadline, CallOptions options) {
        CompletableFuture<A> future = new CompletableFuture<>();
        CallOptions bounded = options.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
        ClientCalls.asyncUnaryCall(channel.newCall(method, bounded), request, new StreamObserver<>() {
            @Override
            public void onNext(A answer) {
                future.complete(answer);
            }

            @Override
            public void onError(Throwable failure) {
                future.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {
                // Nothing more to come: a unary call has had its one answer.
            }
        });
        return future;
    }

    /** The future of a call that is made now; a failed one if it throws. */
    static <T> CompletableFuture<T> attempt(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Takes the next step towards {@code result} once {@code future} is done. A step that throws fails the result.
     *
     * @param step called as by {@link #whenDone}
     */
    static <T> void whenDone(
            CompletableFuture<T> future,
            CompletableFuture<?> result,
            BiConsumer<@Nullable T, @Nullable Throwable> step) {
        whenDone(future, (value, failure) -> {
            try {
                step.accept(value, failure);
            } catch (RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
    }

    /**
     * Passes the result of a future, or its unwrapped failure, to a callback.
     *
     * @param then must not throw; one of its arguments is null, or both for a future without a result
     */
    @SuppressWarnings("FutureReturnValueIgnored") // The follow-up has no result.
    public static <T> void whenDone(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> then) {
        future.whenComplete((result, failure) -> {
            boolean wrapped = failure instanceof CompletionException && failure.getCause() != null;
            then.accept(result, wrapped ? failure.getCause() : failure);
        });
    }
}
