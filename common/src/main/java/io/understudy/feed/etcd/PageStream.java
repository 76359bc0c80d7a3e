package io.understudy.feed.etcd;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseOp;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import io.understudy.etcd.EtcdMessages;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * A gateway's {@code RangeStream}, joined to pages. It pauses after each page until
 * {@link #resume}, which leaves the rest to flow control. Thread-safe, once started.
 *
 * <p>Only the last message has a header. Metadata of the gateway has the cluster id for the pages before; a server
 * without it is not read from. What the replica lacks is not read either: the gateway's source would read it at once.
 */
final class PageStream {

    /** {@code ResponseOp} is {@code RangeStreamResponse} on the wire: both have the {@code RangeResponse} in field 1. */
    static final MethodDescriptor<RangeRequest, ResponseOp> RANGE_STREAM = MethodDescriptor.newBuilder(
                    ProtoUtils.marshaller(RangeRequest.getDefaultInstance()),
                    ProtoUtils.marshaller(ResponseOp.getDefaultInstance()))
            .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
            .setFullMethodName("etcdserverpb.KV/RangeStream")
            .build();

    private static final Metadata.Key<String> CLUSTER_ID =
            Metadata.Key.of(EtcdMessages.CLUSTER_ID_KEY, Metadata.ASCII_STRING_MARSHALLER);

    private static final Metadata.Key<String> REPLICA_ONLY =
            Metadata.Key.of(EtcdMessages.REPLICA_ONLY_KEY, Metadata.ASCII_STRING_MARSHALLER);

    private final ClientCall<RangeRequest, ResponseOp> call;
    private final long pageBytes;
    /** Whether the next message is requested, and since when. */
    private boolean isAwaiting;

    private long awaitedSinceNanos;

    /** @param pageBytes size of keys and values from which on a page is complete */
    PageStream(Channel channel, int maxMessageBytes, long pageBytes) {
        this.call = channel.newCall(RANGE_STREAM, CallOptions.DEFAULT.withMaxInboundMessageSize(maxMessageBytes));
        this.pageBytes = pageBytes;
    }

    /** @param pages receives each page, with {@code more} unless it is the last, or a failure */
    void start(RangeRequest request, Consumer<Callable<RangeResponse>> pages) {
        Metadata metadata = new Metadata();
        metadata.put(REPLICA_ONLY, "true");
        call.start(new Messages(pages), metadata);
        call.sendMessage(request);
        call.halfClose();
        resume();
    }

    /** Requests the next page, unless one is requested. */
    synchronized void resume() {
        if (!isAwaiting) {
            isAwaiting = true;
            awaitedSinceNanos = System.nanoTime();
            call.request(1);
        }
    }

    /** Ends the call. */
    void cancel() {
        call.cancel("stream is not needed", null);
    }

    private synchronized void arrived() {
        isAwaiting = false;
    }

    /** Cancels the call if a requested message has not arrived in time; returns the nanoseconds left until then. */
    synchronized long cancelIfLate(Duration timeout) {
        if (!isAwaiting) {
            return Long.MAX_VALUE;
        }
        long left = awaitedSinceNanos + timeout.toNanos() - System.nanoTime();
        if (left > 0) {
            return left;
        }
        isAwaiting = false;
        call.cancel("no message of RangeStream received in " + timeout.toMillis() + " ms", null);
        return Long.MAX_VALUE;
    }

    private final class Messages extends ClientCall.Listener<ResponseOp> {

        private final Consumer<Callable<RangeResponse>> pages;
        private RangeResponse.Builder page = RangeResponse.newBuilder();
        private long bytes;
        private boolean isLast;

        Messages(Consumer<Callable<RangeResponse>> pages) {
            this.pages = pages;
        }

        @Override
        public void onHeaders(Metadata headers) {
            String clusterId = String.valueOf(headers.get(CLUSTER_ID));
            try {
                page.getHeaderBuilder().setClusterId(Long.parseUnsignedLong(clusterId, 16));
            } catch (NumberFormatException e) {
                fail(Status.UNIMPLEMENTED.withDescription("server is no gateway that streams snapshots: "
                        + EtcdMessages.CLUSTER_ID_KEY + " is " + clusterId));
            }
        }

        @Override
        public void onMessage(ResponseOp message) {
            arrived();
            RangeResponse part = message.getResponseRange();
            isLast = part.hasHeader();
            page.mergeFrom(part);
            bytes += PageChain.bytes(part.getKvsList());
            if (isLast || bytes < pageBytes) {
                resume();
            } else {
                give();
            }
        }

        private void give() {
            RangeResponse complete = page.setMore(true).build();
            page = RangeResponse.newBuilder().setHeader(complete.getHeader());
            bytes = 0;
            pages.accept(() -> complete);
        }

        private void fail(Status status) {
            pages.accept(() -> {
                throw status.asRuntimeException();
            });
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            if (status.isOk() && isLast) {
                pages.accept(page::build);
                return;
            }
            if (bytes > 0 && !isLast) {
                // What follows is requested from there on.
                give();
            }
            boolean isCut = status.isOk() || status.getCode() == Status.Code.CANCELLED;
            fail(
                    isCut
                            ? Status.UNAVAILABLE.withDescription("RangeStream ended early: " + status.getDescription())
                            : status);
        }
    }
}
