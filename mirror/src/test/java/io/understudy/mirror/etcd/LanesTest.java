package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.mirror.sink.SinkException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Busy lanes block the caller, and lanes fail together.
 *
 * <p>Tests invariant M15.
 */
@Timeout(30)
final class LanesTest {

    private final CountDownLatch target = new CountDownLatch(1);

    @Test
    void onePieceOfWorkWaitsWhileAllLanesAreBusy() throws InterruptedException {
        AtomicInteger handed = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        try (Lanes<Integer> lanes = lanes(3)) {
            Thread pipeline = new Thread(() -> {
                for (int i = 0; i < 20; i++) {
                    lanes.hand(lane -> {
                        blocked();
                        done.incrementAndGet();
                    });
                    handed.incrementAndGet();
                }
                lanes.drain();
                handed.incrementAndGet();
            });
            pipeline.start();
            await().until(() -> pipeline.getState() == Thread.State.WAITING && handed.get() >= 4);
            assertThat(handed).as("three at work, one waiting").hasValue(4);
            target.countDown();
            pipeline.join();
            assertThat(handed).hasValue(21);
            assertThat(done).hasValue(20);
        }
    }

    @Test
    void theNextCallThrowsTheFailureOfALane() {
        try (Lanes<Integer> lanes = lanes(2)) {
            lanes.hand(lane -> blocked());
            lanes.hand(lane -> {
                throw new SinkException.Fenced("somebody else");
            });
            assertThatThrownBy(lanes::drain)
                    .isInstanceOf(SinkException.Fenced.class)
                    .hasMessage("somebody else");
            assertThatThrownBy(() -> lanes.hand(lane -> {})).isInstanceOf(SinkException.Fenced.class);
        }
    }

    @Test
    void closeInterruptsAllLanesAndEndsTheirThreads() {
        Lanes<Integer> lanes = lanes(2);
        AtomicInteger ended = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            lanes.hand(lane -> {
                started.countDown();
                try {
                    blocked();
                } finally {
                    ended.incrementAndGet();
                }
            });
        }
        await().until(() -> started.getCount() == 0);
        lanes.close();
        assertThat(ended).hasValue(2);
        lanes.close();
    }

    private void blocked() {
        try {
            target.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Lanes<Integer> lanes(int count) {
        return Lanes.start("test", IntStream.range(0, count).boxed().toList());
    }
}
