package io.understudy.feed.etcd;

import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchProgressRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.understudy.etcd.EtcdMessages;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;

/**
 * The watch protocol on the wire (etcd's {@code rpc.proto}). The messages of jetcd are older than fragmentation, so its
 * two fields travel as unknown ones.
 */
final class WatchMessages {

    /** {@code WatchCreateRequest.fragment}. */
    private static final int CREATE_FRAGMENT_FIELD = 8;

    /** {@code WatchResponse.fragment}. */
    private static final int RESPONSE_FRAGMENT_FIELD = 7;

    private static final UnknownFieldSet FRAGMENT = UnknownFieldSet.newBuilder()
            .addField(
                    CREATE_FRAGMENT_FIELD,
                    UnknownFieldSet.Field.newBuilder().addVarint(1).build())
            .build();

    private static final WatchRequest PROGRESS = WatchRequest.newBuilder()
            .setProgressRequest(WatchProgressRequest.getDefaultInstance())
            .build();

    private WatchMessages() {}

    /**
     * @param previous whether events include the previous values of their keys
     * @param fragments whether large responses may be split
     */
    static WatchRequest create(KeyRange range, Revision start, boolean previous, boolean fragments) {
        WatchCreateRequest.Builder create = WatchCreateRequest.newBuilder()
                .setKey(range.etcdKey())
                .setRangeEnd(range.etcdRangeEnd())
                .setStartRevision(start.value())
                .setPrevKv(previous);
        if (fragments) {
            create.setUnknownFields(FRAGMENT);
        }
        return WatchRequest.newBuilder().setCreateRequest(create).build();
    }

    static WatchRequest progress() {
        return PROGRESS;
    }

    /** Whether the response is continued in the next one. */
    static boolean isFragment(WatchResponse response) {
        return response.getUnknownFields().getField(RESPONSE_FRAGMENT_FIELD).getVarintList().stream()
                .anyMatch(value -> value != 0);
    }

    static Change change(Event event) {
        return event.getType() == Event.EventType.DELETE
                ? new Change.Delete(event.getKv().getKey())
                : new Change.Put(EtcdMessages.keyValue(event.getKv()));
    }
}
