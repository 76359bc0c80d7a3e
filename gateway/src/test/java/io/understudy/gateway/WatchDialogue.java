package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A stream of watchers that waits for each response. */
final class WatchDialogue implements AutoCloseable {
    private final Context.CancellableContext context = Context.current().withCancellation();
    private final BlockingQueue<WatchResponse> responses = new LinkedBlockingQueue<>();
    private final StreamObserver<WatchRequest> requests;
    private WatchResponse last = WatchResponse.getDefaultInstance();

    WatchDialogue(Channel channel) throws Exception {
        requests = context.call(() -> WatchGrpc.newStub(channel).watch(new StreamObserver<>() {
            @Override
            public void onNext(WatchResponse response) {
                responses.add(response);
            }

            @Override
            public void onError(Throwable failure) {
                responses.add(WatchResponse.newBuilder()
                        .setCancelReason(String.valueOf(failure.getMessage()))
                        .build());
            }

            @Override
            public void onCompleted() {
                // Nothing waits for that.
            }
        }));
    }

    void create(String key, String end) {
        requests.onNext(WatchRequest.newBuilder()
                .setCreateRequest(WatchCreateRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setRangeEnd(ByteString.copyFromUtf8(end)))
                .build());
    }

    WatchResponse next() throws InterruptedException {
        WatchResponse next = responses.poll(10, TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("told nothing");
        }
        last = next;
        return next;
    }

    /** The last response. */
    WatchResponse last() {
        return last;
    }

    @Override
    public void close() {
        context.cancel(null);
    }
}
