package io.understudy.gateway;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.WatchCancelRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchProgressRequest;
import io.etcd.jetcd.api.WatchRequest;
import java.util.function.Consumer;

/** Requests to a watch stream. Fields that jetcd lacks are added as unknown ones. */
final class WatchRequests {

    private static final int WATCH_ID = 7;
    private static final int FRAGMENT = 8;

    private WatchRequests() {}

    static WatchRequest create(String key, Consumer<WatchCreateRequest.Builder> more) {
        return create(key, "", more);
    }

    static WatchRequest create(String key, String end, Consumer<WatchCreateRequest.Builder> more) {
        WatchCreateRequest.Builder create = WatchCreateRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .setRangeEnd(ByteString.copyFromUtf8(end));
        more.accept(create);
        return WatchRequest.newBuilder().setCreateRequest(create).build();
    }

    static WatchRequest create(String key) {
        return create(key, create -> {});
    }

    /** All keys that begin so; the last letter must not be the last there is. */
    static WatchRequest createPrefix(String prefix, Consumer<WatchCreateRequest.Builder> more) {
        char last = prefix.charAt(prefix.length() - 1);
        return create(prefix, prefix.substring(0, prefix.length() - 1) + (char) (last + 1), more);
    }

    static void id(WatchCreateRequest.Builder create, long id) {
        unknown(create, WATCH_ID, id);
    }

    static void fragment(WatchCreateRequest.Builder create) {
        unknown(create, FRAGMENT, 1);
    }

    private static void unknown(WatchCreateRequest.Builder create, int field, long value) {
        create.setUnknownFields(create.getUnknownFields().toBuilder()
                .mergeField(
                        field,
                        UnknownFieldSet.Field.newBuilder().addVarint(value).build())
                .build());
    }

    static WatchRequest cancel(long id) {
        return WatchRequest.newBuilder()
                .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(id))
                .build();
    }

    static WatchRequest progress() {
        return WatchRequest.newBuilder()
                .setProgressRequest(WatchProgressRequest.getDefaultInstance())
                .build();
    }
}
