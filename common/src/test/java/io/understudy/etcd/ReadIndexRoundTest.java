package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class ReadIndexRoundTest {

    private static final Endpoint FIRST = new Endpoint("first", 2379, false);
    private static final Endpoint SECOND = new Endpoint("second", 2379, false);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final ReadIndex INDEX = new ReadIndex(new Revision(7), new ClusterId(1), new MemberId(2), 0, null);

    private final Map<Endpoint, CompletableFuture<ReadIndex>> attempts = new ConcurrentHashMap<>();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

    @AfterEach
    void stop() {
        thread.shutdownNow();
    }

    @Test
    void triesOnlyTheFirstCandidateWhenItConfirms() {
        CompletableFuture<ReadIndex> round = run(LONG);

        attempts(FIRST).complete(INDEX);

        assertThat(round.join()).isEqualTo(INDEX);
        assertThat(attempts).containsOnlyKeys(FIRST);
    }

    @Test
    void triesTheNextCandidateAtOnceWhenTheFirstFails() {
        CompletableFuture<ReadIndex> round = run(LONG);

        attempts(FIRST).completeExceptionally(new IllegalStateException("down"));
        attempts(SECOND).complete(INDEX);

        assertThat(round.join()).isEqualTo(INDEX);
    }

    @Test
    void triesTheNextCandidateAfterASilenceAndTakesTheFirstAnswer() {
        CompletableFuture<ReadIndex> round = run(LONG);

        await().atMost(LONG).until(() -> attempts.containsKey(SECOND));
        attempts(FIRST).complete(INDEX);

        assertThat(round.join()).isEqualTo(INDEX);
    }

    @Test
    void reportsEachFailureWhenAllFail() {
        CompletableFuture<ReadIndex> round = run(LONG);

        attempts(FIRST).completeExceptionally(new IllegalStateException("down"));
        attempts(SECOND).completeExceptionally(new IllegalStateException("confused"));

        assertThatThrownBy(round::join)
                .hasRootCauseMessage("confused")
                .cause()
                .isInstanceOf(EtcdUnavailableException.class)
                .hasMessageContaining("first:2379: down")
                .hasMessageContaining("second:2379: confused");
    }

    @Test
    void endsByItsDeadlineWhenEveryoneIsSilent() {
        assertThatThrownBy(() -> run(Duration.ofMillis(200)).join())
                .cause()
                .isInstanceOf(EtcdUnavailableException.class)
                .hasMessageContaining("timed out after 200 ms")
                .hasMessageContaining("first:2379");
    }

    @Test
    void failsWhenItsThreadHasEnded() {
        thread.shutdownNow();

        assertThatThrownBy(() -> run(LONG).join()).cause().isInstanceOf(EtcdUnavailableException.class);
    }

    @Test
    void failsAtOnceWithoutCandidates() {
        assertThatThrownBy(() -> ReadIndexRound.run(List::of, this::attempt, LONG, thread)
                        .join())
                .cause()
                .isInstanceOf(EtcdUnavailableException.class)
                .hasMessageContaining("no endpoint available");
    }

    private CompletableFuture<ReadIndex> run(Duration deadline) {
        return ReadIndexRound.run(() -> List.of(FIRST, SECOND), this::attempt, deadline, thread);
    }

    private CompletableFuture<ReadIndex> attempts(Endpoint endpoint) {
        await().atMost(LONG).until(() -> attempts.containsKey(endpoint));
        return attempts.get(endpoint);
    }

    private CompletableFuture<ReadIndex> attempt(Endpoint endpoint, Duration deadline) {
        return attempts.computeIfAbsent(endpoint, each -> new CompletableFuture<>());
    }
}
