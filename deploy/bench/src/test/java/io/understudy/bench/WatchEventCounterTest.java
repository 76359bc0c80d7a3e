package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.WatchResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.bench.CountedWatchStream.WatchEventCounter;
import io.understudy.bench.Watchers.WatchedKeys;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WatchEventCounterTest {

    private final WatchEventCounter message = new WatchEventCounter(Unpooled.EMPTY_BUFFER);

    @Test
    void eventsAreCountedAndTheirPutsRecognised() {
        WatchedKeys keys = new WatchedKeys();
        read(response(7).addEvents(event(keys, 41)).addEvents(event(keys, 42)).build());

        assertThat(message.watchId()).isEqualTo(7);
        assertThat(message.events()).isEqualTo(2);
        assertThat(numbers()).containsExactly(41L, 42L);
    }

    @Test
    void whatIsCreatedOrCancelledHasNoEvents() {
        read(response(0).setCreated(true).build());

        assertThat(message.isCreated()).isTrue();
        assertThat(message.isCanceled()).isFalse();
        assertThat(message.events()).isZero();

        read(response(-1).setCanceled(true).setCancelReason("why").build());

        assertThat(message.watchId()).isEqualTo(-1);
        assertThat(message.isCreated()).isFalse();
        assertThat(message.isCanceled()).isTrue();
    }

    @Test
    void whatIsNoResponseIsRefused() {
        ByteBuf fixed32 = Unpooled.wrappedBuffer(new byte[] {1 << 3 | 5, 0, 0, 0, 0});

        assertThatThrownBy(() -> message.read(fixed32, 0, 5)).isInstanceOf(BenchException.class);
    }

    private void read(WatchResponse response) {
        byte[] bytes = response.toByteArray();
        message.read(Unpooled.buffer().writeZero(3).writeBytes(bytes).writeZero(3), 3, bytes.length);
    }

    private List<Long> numbers() {
        List<Long> numbers = new ArrayList<>();
        message.numbers(numbers::add);
        return numbers;
    }

    private static WatchResponse.Builder response(long watchId) {
        return WatchResponse.newBuilder()
                .setHeader(ResponseHeader.newBuilder()
                        .setClusterId(1)
                        .setMemberId(-2)
                        .setRevision(300))
                .setWatchId(watchId);
    }

    private static Event event(WatchedKeys keys, long number) {
        ByteString value = keys.put(number).getValue();
        return Event.newBuilder()
                .setKv(KeyValue.newBuilder()
                        .setKey(WatchedKeys.key(5))
                        .setModRevision(300)
                        .setVersion(2)
                        .setValue(value)
                        .setLease(9))
                .build();
    }
}
