package io.understudy.etcd;

import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Calls that are answered later. */
final class Calls {

    private Calls() {}

    /** Makes a call whose future fails with the call's {@link io.grpc.StatusRuntimeException}. */
    static <T> CompletableFuture<T> unary(Consumer<StreamObserver<T>> call) {
        CompletableFuture<T> future = new CompletableFuture<>();
        call.accept(new StreamObserver<>() {
            @Override
            public void onNext(T answer) {
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

    /**
     * Does something with the result of a future, or with what made it fail, freed of wrappings; must not throw.
     *
     * @param then one of its arguments is null, or both for a future of nothing
     */
    @SuppressWarnings("FutureReturnValueIgnored") // The follow-up has no result.
    static <T> void whenDone(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> then) {
        future.whenComplete((result, failure) -> {
            boolean wrapped = failure instanceof CompletionException && failure.getCause() != null;
            then.accept(result, wrapped ? failure.getCause() : failure);
        });
    }
}
