package io.understudy.gateway.watch;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.ProtoFields;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The wire form of {@code WatchResponse} without events, and fields that jetcd lacks ({@code
 * api/etcdserverpb/rpc.proto}).
 */
final class WatchMessage {

    private static final int WATCH_ID = 2 << 3;
    private static final int CREATED = 3 << 3;
    private static final int CANCELED = 4 << 3;
    private static final int COMPACT_REVISION = 5 << 3;
    private static final int CANCEL_REASON = 6 << 3 | 2;
    private static final int FRAGMENT_FIELD = 7;
    private static final int FRAGMENT = FRAGMENT_FIELD << 3;

    private static final int CREATE_WATCH_ID_FIELD = 7;
    private static final int CREATE_FRAGMENT_FIELD = 8;

    private WatchMessage() {}

    /** Returns the ID chosen by the client; 0 for none. */
    static long chosenId(WatchCreateRequest create) {
        return last(create.getUnknownFields(), CREATE_WATCH_ID_FIELD);
    }

    /** Whether large responses may be split. */
    static boolean fragments(WatchCreateRequest create) {
        return last(create.getUnknownFields(), CREATE_FRAGMENT_FIELD) != 0;
    }

    /** Whether the rest of the events follows in further responses. */
    static boolean isFragment(WatchResponse response) {
        return last(response.getUnknownFields(), FRAGMENT_FIELD) != 0;
    }

    /** The same request with the first id of a stream. */
    static WatchCreateRequest withoutId(WatchCreateRequest create) {
        return create.toBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder(create.getUnknownFields())
                        .clearField(CREATE_WATCH_ID_FIELD)
                        .build())
                .build();
    }

    private static long last(UnknownFieldSet fields, int number) {
        List<Long> values = fields.getField(number).getVarintList();
        return values.isEmpty() ? 0 : values.get(values.size() - 1);
    }

    /** The size of a response without events. */
    static int size(byte[] header, WatchControl response) {
        return header.length
                + ProtoFields.numberSize(response.watchId())
                + (response.created() ? 2 : 0)
                + (response.canceled() ? 2 : 0)
                + ProtoFields.numberSize(response.compactRevision())
                + (response.cancelReason().isEmpty() ? 0 : textSize(response.cancelReason()));
    }

    static void write(ByteBuf out, byte[] header, WatchControl response) {
        out.writeBytes(header);
        ProtoFields.writeNumber(out, WATCH_ID, response.watchId());
        writeFlag(out, CREATED, response.created());
        writeFlag(out, CANCELED, response.canceled());
        ProtoFields.writeNumber(out, COMPACT_REVISION, response.compactRevision());
        if (!response.cancelReason().isEmpty()) {
            byte[] text = response.cancelReason().getBytes(StandardCharsets.UTF_8);
            out.writeByte(CANCEL_REASON);
            ProtoFields.writeVarint(out, text.length);
            out.writeBytes(text);
        }
    }

    /** The size of a response up to its events. */
    static int size(byte[] header, long watchId, boolean fragment) {
        return header.length + ProtoFields.numberSize(watchId) + (fragment ? 2 : 0);
    }

    /** Writes a response up to its events. */
    static void write(ByteBuf out, byte[] header, long watchId, boolean fragment) {
        out.writeBytes(header);
        ProtoFields.writeNumber(out, WATCH_ID, watchId);
        writeFlag(out, FRAGMENT, fragment);
    }

    private static int textSize(String text) {
        return 1 + CodedOutputStream.computeStringSizeNoTag(text);
    }

    private static void writeFlag(ByteBuf out, int tag, boolean value) {
        if (value) {
            out.writeByte(tag).writeByte(1);
        }
    }
}
