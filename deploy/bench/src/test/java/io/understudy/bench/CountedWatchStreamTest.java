package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.WatchResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.bench.CountedWatchStream.Deliveries;
import io.understudy.bench.CountedWatchStream.WatchEventCounter;
import io.understudy.bench.Watchers.WatchedKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CountedWatchStreamTest {

    private final WatchedKeys keys = new WatchedKeys();
    private final Deliveries deliveries = new Deliveries();
    private final CountedWatchStream stream = new CountedWatchStream(
            2, new boolean[] {false, true}, deliveries, new WatchEventCounter(Unpooled.EMPTY_BUFFER));

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 6, 100, 333, 10_000})
    void messagesAreReadHoweverTheyAreCut(int piece) {
        ByteBuf all = Unpooled.buffer();
        for (int watcher = 0; watcher < 2; watcher++) {
            append(all, WatchResponse.newBuilder().setWatchId(watcher).setCreated(true));
        }
        for (int number = 0; number < 3; number++) {
            append(all, events(0, number));
            append(all, events(1, number));
        }

        int created = 0;
        while (all.isReadable()) {
            created += stream.take(all.readSlice(Math.min(piece, all.readableBytes())), 7);
        }
        deliveries.publish();

        assertThat(created).isEqualTo(2);
        assertThat(deliveries.total()).isEqualTo(6);
        assertThat(stream.watchersWithout(3)).isZero();
        assertThat(deliveries.samples()).isEqualTo(3);
        assertThat(deliveries.number(2)).isEqualTo(2);
        assertThat(deliveries.nanos(2)).isEqualTo(7);
    }

    @Test
    void aWatcherThatGotLessOrMoreThanOthersIsFound() {
        take(events(0, 0));
        take(events(1, 0));
        take(events(1, 0));

        assertThat(stream.watchersWithout(1)).isEqualTo(1);
        assertThat(stream.watchersWithout(2)).isEqualTo(1);
    }

    @Test
    void aCancelledWatcherIsAFailure() {
        assertThatThrownBy(() -> take(WatchResponse.newBuilder().setCanceled(true)))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("cancelled");
    }

    private void take(WatchResponse.Builder response) {
        ByteBuf bytes = Unpooled.buffer();
        append(bytes, response);
        stream.take(bytes, 0);
    }

    private WatchResponse.Builder events(int watcher, int number) {
        return WatchResponse.newBuilder()
                .setWatchId(watcher)
                .addEvents(Event.newBuilder()
                        .setKv(KeyValue.newBuilder().setValue(keys.put(number).getValue())));
    }

    private static void append(ByteBuf to, WatchResponse.Builder response) {
        byte[] bytes = response.build().toByteArray();
        to.writeByte(0).writeInt(bytes.length).writeBytes(bytes);
    }
}
