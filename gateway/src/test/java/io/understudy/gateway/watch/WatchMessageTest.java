package io.understudy.gateway.watch;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Responses have the bytes that protobuf would make of them.
 *
 * <p>Tests invariant N1.
 */
final class WatchMessageTest {

    private static final long CLUSTER = 0xcafe_0000_0000_0001L;
    private static final long MEMBER = -5;

    private final WatchHeaders headers =
            new WatchHeaders(new ResponseHeaders(new MemberId(MEMBER), () -> 7), () -> new ClusterId(CLUSTER));

    static Stream<WatchControl> controls() {
        return Stream.of(
                WatchControl.created(12, 0),
                WatchControl.created(1L << 40, 300),
                WatchControl.refused(12, "etcdserver: größer"),
                WatchControl.canceled(12, -3),
                WatchControl.compacted(1, 1L << 33),
                WatchControl.progress(12, WatchControl.NO_WATCHER));
    }

    @ParameterizedTest
    @MethodSource("controls")
    void aResponseWithoutEvents(WatchControl control) {
        byte[] header = headers.of(control.revision());
        ByteBuf out = Unpooled.buffer();
        WatchMessage.write(out, header, control);
        assertThat(ByteBufUtil.getBytes(out))
                .hasSize(WatchMessage.size(header, control))
                .isEqualTo(WatchResponse.newBuilder()
                        .setHeader(header(control.revision()))
                        .setWatchId(control.watchId())
                        .setCreated(control.created())
                        .setCanceled(control.canceled())
                        .setCompactRevision(control.compactRevision())
                        .setCancelReason(control.cancelReason())
                        .build()
                        .toByteArray());
    }

    @Test
    void theBeginningOfAFragment() {
        byte[] header = headers.of(99);
        ByteBuf out = Unpooled.buffer();
        WatchMessage.write(out, header, 1, true);
        assertThat(ByteBufUtil.getBytes(out))
                .hasSize(WatchMessage.size(header, 1, true))
                .isEqualTo(WatchResponse.newBuilder()
                        .setHeader(header(99))
                        .setWatchId(1)
                        .setUnknownFields(varint(7, 1))
                        .build()
                        .toByteArray());
    }

    @Test
    void theLastOfSeveralIdsCounts() {
        WatchCreateRequest create = WatchCreateRequest.newBuilder()
                .setUnknownFields(
                        varint(7, 4).toBuilder().mergeFrom(varint(7, 9)).build())
                .build();
        assertThat(WatchMessage.chosenId(create)).isEqualTo(9);
        assertThat(WatchMessage.fragments(create)).isFalse();
        assertThat(WatchMessage.chosenId(WatchCreateRequest.getDefaultInstance()))
                .isZero();
    }

    private static UnknownFieldSet varint(int field, long value) {
        return UnknownFieldSet.newBuilder()
                .addField(
                        field,
                        UnknownFieldSet.Field.newBuilder().addVarint(value).build())
                .build();
    }

    private static ResponseHeader header(long revision) {
        return ResponseHeader.newBuilder()
                .setClusterId(CLUSTER)
                .setMemberId(MEMBER)
                .setRevision(revision)
                .setRaftTerm(7)
                .build();
    }
}
