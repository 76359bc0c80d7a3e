package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests invariant E6. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class ReadIndexQueueTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final List<CompletableFuture<ReadIndex>> rounds = new ArrayList<>();
    private final ReadIndexQueue queue = new ReadIndexQueue(deadline -> {
        CompletableFuture<ReadIndex> round = new CompletableFuture<>();
        rounds.add(round);
        return round;
    });

    @Test
    void callersDuringARoundShareTheNext() {
        CompletableFuture<ReadIndex> first = queue.submit(LONG);
        CompletableFuture<ReadIndex> second = queue.submit(LONG);
        CompletableFuture<ReadIndex> third = queue.submit(LONG);
        assertThat(rounds).hasSize(1);

        rounds.get(0).complete(index(1));
        assertThat(first.join()).isEqualTo(index(1));
        assertThat(second).isNotDone();
        assertThat(rounds).hasSize(2);

        rounds.get(1).complete(index(2));
        assertThat(second.join()).isEqualTo(index(2));
        assertThat(third.join()).isEqualTo(index(2));
    }

    @Test
    void aFailedRoundFailsItsCallersOnly() {
        CompletableFuture<ReadIndex> first = queue.submit(LONG);
        CompletableFuture<ReadIndex> second = queue.submit(LONG);

        rounds.get(0).completeExceptionally(new EtcdUnavailableException("nobody", null));
        rounds.get(1).complete(index(2));

        assertThatThrownBy(first::join)
                .cause()
                .isInstanceOf(EtcdUnavailableException.class)
                .hasMessage("nobody");
        assertThat(second.join()).isEqualTo(index(2));
    }

    @Test
    void anImpatientCallerLeavesWithoutHarmToTheOthers() {
        CompletableFuture<ReadIndex> patient = queue.submit(LONG);
        CompletableFuture<ReadIndex> impatient = queue.submit(Duration.ofMillis(50));
        CompletableFuture<ReadIndex> other = queue.submit(LONG);

        assertThatThrownBy(impatient::join)
                .cause()
                .isInstanceOf(EtcdUnavailableException.class)
                .hasMessageContaining("50 ms");
        other.cancel(true);
        rounds.get(0).complete(index(1));
        assertThat(patient.join()).isEqualTo(index(1));
        rounds.get(1).complete(index(2));
        assertThat(queue.submit(LONG)).isNotDone();
        assertThat(rounds).hasSize(3);
    }

    @Test
    void noRoundIsSentWhenAllCallersHaveLeft() {
        CompletableFuture<ReadIndex> first = queue.submit(LONG);
        CompletableFuture<ReadIndex> impatient = queue.submit(Duration.ofMillis(20));
        assertThatThrownBy(impatient::join).cause().isInstanceOf(EtcdUnavailableException.class);

        rounds.get(0).complete(index(1));

        assertThat(first.join()).isEqualTo(index(1));
        assertThat(rounds).hasSize(1);
        assertThat(queue.submit(LONG)).isNotDone();
        assertThat(rounds).hasSize(2);
    }

    private static ReadIndex index(long revision) {
        return new ReadIndex(new Revision(revision), new ClusterId(1), new MemberId(2), 0, null);
    }
}
