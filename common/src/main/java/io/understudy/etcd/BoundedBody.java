package io.understudy.etcd;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** The body of a response, which fails and is cancelled beyond a size. */
public final class BoundedBody implements HttpResponse.BodySubscriber<byte[]> {

    private final int most;
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;

    BoundedBody(int mostBytes) {
        this.most = mostBytes;
    }

    /** Returns a handler of text in UTF-8. */
    public static BodyHandler<String> text(int mostBytes) {
        return answer ->
                BodySubscribers.mapping(new BoundedBody(mostBytes), bytes -> new String(bytes, StandardCharsets.UTF_8));
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription begun) {
        subscription = begun;
        begun.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> more) {
        for (ByteBuffer each : more) {
            if (received.size() + each.remaining() > most) {
                body.completeExceptionally(new IOException("response is larger than " + most + " bytes"));
                if (subscription != null) {
                    subscription.cancel();
                }
                return;
            }
            byte[] bytes = new byte[each.remaining()];
            each.get(bytes);
            received.writeBytes(bytes);
        }
    }

    @Override
    public void onError(Throwable why) {
        body.completeExceptionally(why);
    }

    @Override
    public void onComplete() {
        body.complete(received.toByteArray());
    }
}
