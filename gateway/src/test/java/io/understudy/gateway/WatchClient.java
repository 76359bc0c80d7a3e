package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** One stream of {@code etcdserverpb.Watch/Watch}: records what comes. For any thread. */
final class WatchClient implements AutoCloseable {

    private final ClientCall<WatchRequest, WatchResponse> call;
    private final List<WatchResponse> received = new CopyOnWriteArrayList<>();
    private volatile @Nullable Status status;

    WatchClient(Channel channel) {
        this(channel, CallOptions.DEFAULT, Integer.MAX_VALUE, new String[0]);
    }

    /** A stream that is begun with metadata: names and values in turn. */
    WatchClient(Channel channel, String... metadata) {
        this(channel, CallOptions.DEFAULT, Integer.MAX_VALUE, metadata);
    }

    /** A stream that takes as many responses before more are {@linkplain #take asked for}. */
    WatchClient(Channel channel, CallOptions options, int takes, String... metadata) {
        Metadata headers = new Metadata();
        for (int i = 0; i < metadata.length; i += 2) {
            headers.put(Metadata.Key.of(metadata[i], Metadata.ASCII_STRING_MARSHALLER), metadata[i + 1]);
        }
        call = channel.newCall(WatchGrpc.getWatchMethod(), options);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(WatchResponse message) {
                        received.add(message);
                    }

                    @Override
                    public void onClose(Status closed, Metadata trailers) {
                        status = closed;
                    }
                },
                headers);
        call.request(takes);
    }

    void send(WatchRequest request) {
        call.sendMessage(request);
    }

    void take(int more) {
        call.request(more);
    }

    void halfClose() {
        call.halfClose();
    }

    void cancel() {
        call.cancel("the test wants it", null);
    }

    /** All so far. */
    List<WatchResponse> received() {
        return List.copyOf(received);
    }

    /** How the stream ended; null while it hasn't. */
    @Nullable Status status() {
        return status;
    }

    /** The events told to a watcher, in their order, whatever responses carried them. */
    List<String> eventsOf(long watchId) {
        List<String> events = new ArrayList<>();
        for (WatchResponse response : received) {
            if (response.getWatchId() == watchId) {
                response.getEventsList().forEach(event -> events.add(text(event)));
            }
        }
        return events;
    }

    /** A response but for what differs between members: their id, and when they learned of a term. */
    static String comparable(WatchResponse response) {
        StringBuilder text =
                new StringBuilder("rev=").append(response.getHeader().getRevision());
        if (response.getHeader().getClusterId() == 0) {
            text.append(" without cluster");
        }
        text.append(" id=").append(response.getWatchId());
        if (response.getCreated()) {
            text.append(" created");
        }
        if (response.getCanceled()) {
            text.append(" canceled");
        }
        if (response.getCompactRevision() != 0) {
            text.append(" compact=").append(response.getCompactRevision());
        }
        if (!response.getCancelReason().isEmpty()) {
            text.append(" \"").append(response.getCancelReason()).append('"');
        }
        if (!response.getUnknownFields().asMap().isEmpty()) {
            text.append(" unknown ")
                    .append(HexFormat.of().formatHex(response.getUnknownFields().toByteArray()));
        }
        response.getEventsList().forEach(event -> text.append(' ').append(text(event)));
        return text.toString();
    }

    private static String text(Event event) {
        return event.getType() + "(" + text(event.getKv())
                + (event.hasPrevKv() ? " before:" + text(event.getPrevKv()) : "") + ")";
    }

    private static String text(KeyValue kv) {
        return text(kv.getKey()) + "=" + text(kv.getValue()) + " c" + kv.getCreateRevision() + " m"
                + kv.getModRevision() + " v" + kv.getVersion() + " l" + kv.getLease();
    }

    private static String text(ByteString bytes) {
        return bytes.size() > 40 ? bytes.size() + " bytes #" + bytes.hashCode() : bytes.toStringUtf8();
    }

    @Override
    public void close() {
        if (status == null) {
            cancel();
        }
    }
}
