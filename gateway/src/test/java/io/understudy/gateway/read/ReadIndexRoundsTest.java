package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.ReadIndex;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.read.ReadSource.ReadIndexSource;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Sharing of rounds, with a source controlled by the test.
 *
 * <p>Tests invariant C1b.
 */
@Timeout(60)
final class ReadIndexRoundsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final ReadSettings SETTINGS = new ReadSettings(
            Duration.ofSeconds(7),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofMinutes(1),
            1_000,
            10,
            1 << 20);

    private static final ReadSettings SHORT_ROUNDS = new ReadSettings(
            Duration.ofSeconds(7),
            Duration.ofSeconds(1),
            Duration.ofMillis(50),
            Duration.ofMinutes(1),
            1_000,
            10,
            1 << 20);

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final List<CompletableFuture<ReadIndex>> sent = new CopyOnWriteArrayList<>();

    @AfterEach
    void stop() {
        timers.shutdownNow();
    }

    @Test
    void aSingleReadersRoundIsSentAtOnce() {
        ReadIndexRounds rounds = rounds(this::givenByTheTest);
        for (int read = 1; read <= 100; read++) {
            rounds.join(new Reader(rounds, 0));
            // Sent immediately, on the reader's thread.
            assertThat(sent).hasSize(read);
            sent.get(read - 1).complete(index(System.nanoTime()));
        }
    }

    @Test
    void readersThatReturnAtOnceConvergeOnOneRound() {
        ReadIndexRounds rounds = rounds(this::afterAMoment);
        List<Reader> readers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            readers.add(new Reader(rounds, 30));
        }

        readers.forEach(rounds::join);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(readers).allMatch(reader -> reader.answers.get() == 31));
        // One of them began alone.
        assertThat(sent.size()).isBetween(31, 40);
    }

    @Test
    void aReaderThatReturnsAloneIsDelayedBriefly() {
        ReadIndexRounds rounds = rounds(this::givenByTheTest);
        rounds.join(new Reader(rounds, 0));
        for (int i = 0; i < 10; i++) {
            rounds.join(new Reader(rounds, 0));
        }
        sent.get(0).complete(index(System.nanoTime()));
        await().atMost(PATIENCE).until(() -> sent.size() == 2);
        sent.get(1).complete(index(System.nanoTime()));

        rounds.join(new Reader(rounds, 0));

        await().atMost(PATIENCE).until(() -> sent.size() == 3);
    }

    @Test
    void noReadSharesARoundSentBeforeItArrived() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        ReadIndexRounds rounds = rounds(this::afterAMoment);
        ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
        AtomicInteger answered = new AtomicInteger();
        int threads = 4;
        int reads = 500;
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Random random = new Random(seed + i);
            Thread thread = new Thread(() -> {
                for (int read = 0; read < reads; read++) {
                    long came = System.nanoTime();
                    rounds.join(new Checked(came, violations, answered));
                    LockSupport.parkNanos(random.nextInt(300_000));
                }
            });
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        await().atMost(PATIENCE).until(() -> answered.get() == threads * reads);
        assertThat(violations).as("seed %d", seed).isEmpty();
        assertThat(sent).hasSizeLessThan(threads * reads);
    }

    @Test
    void aRoundThatIsOverdueStillCounts() {
        AtomicLong applied = new AtomicLong(1);
        ReadIndexRounds rounds = rounds(this::givenByTheTest, SHORT_ROUNDS, applied::get);
        Reader first = new Reader(rounds, 0);
        Reader second = new Reader(rounds, 0);
        rounds.join(first);
        applied.set(9);
        rounds.join(second);
        rounds.start();

        await().atMost(PATIENCE).until(() -> sent.size() == 2);
        assertThat(rounds.failure()).isInstanceOf(TimeoutException.class);
        sent.get(0).complete(index(7, 5));

        assertThat(first.answers).hasValue(1);
        assertThat(second.answers).hasValue(0);
        assertThat(rounds.failure()).isNull();
        sent.get(1).complete(index(7, 9));
        assertThat(second.answers).hasValue(1);
    }

    @Test
    void theNextRoundIsSentBesideASlowOne() {
        ReadSettings settings = new ReadSettings(
                Duration.ofSeconds(7),
                Duration.ofSeconds(1),
                Duration.ofMinutes(1),
                Duration.ofMinutes(1),
                1_000,
                10,
                1 << 20);
        ReadIndexRounds rounds = rounds(this::givenByTheTest, settings, () -> 1);
        Reader second = new Reader(rounds, 0);
        rounds.join(new Reader(rounds, 0));
        rounds.join(second);
        rounds.start();
        await().atMost(PATIENCE).until(() -> sent.size() == 2);

        sent.get(1).complete(index(7, 9));

        assertThat(second.answers).hasValue(1);
        assertThat(rounds.failure()).isNull();
        rounds.close();
    }

    @Test
    void aLaterRoundServesTheReadsOfThoseThatAreOverdue() {
        ReadIndexRounds rounds = rounds(this::givenByTheTest, SHORT_ROUNDS, () -> 1);
        Reader first = new Reader(rounds, 0);
        Reader second = new Reader(rounds, 0);
        rounds.join(first);
        rounds.join(second);
        rounds.start();
        await().atMost(PATIENCE).until(() -> sent.size() == 2);

        sent.get(1).complete(index(7, 9));
        sent.get(0).complete(index(7, 5));

        assertThat(first.answers).hasValue(1);
        assertThat(second.answers).hasValue(1);
        assertThat(rounds.failure()).isNull();
    }

    @Test
    void aFatalFailureEndsTheWait() {
        ReadIndexRounds rounds = rounds(this::givenByTheTest);
        Refused refused = new Refused(new CompletableFuture<>());
        rounds.join(refused);

        sent.get(0).completeExceptionally(ApiException.userNameEmpty());

        assertThat(refused.why())
                .succeedsWithin(PATIENCE)
                .isEqualTo(ApiException.userNameEmpty().text());
    }

    @Test
    void aFailingRiderDoesNotAffectOthers() {
        ReadIndexRounds rounds = rounds(this::givenByTheTest);
        rounds.join(new Reader(rounds, 0));
        Reader other = new Reader(rounds, 0);
        rounds.join(new FailingRider());
        rounds.join(other);
        sent.get(0).complete(index(System.nanoTime()));
        await().atMost(PATIENCE).until(() -> sent.size() == 2);
        sent.get(1).complete(index(System.nanoTime()));
        assertThat(other.answers).hasValue(1);
    }

    @Test
    void roundsContinueAfterUnexpectedFailures() {
        AtomicInteger wrong = new AtomicInteger();
        ReadSettings often = new ReadSettings(
                Duration.ofSeconds(7),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofMillis(10),
                1_000,
                10,
                1);
        ReadIndexRounds rounds = rounds(this::afterAMoment, often, () -> {
            if (wrong.incrementAndGet() % 3 != 0) {
                throw new IllegalStateException("as the test wants");
            }
            return 1;
        });
        rounds.start();
        await().atMost(PATIENCE).until(() -> sent.size() >= 3);
        Duration silence = rounds.silence();
        long confirmedBy = System.nanoTime() - silence.toNanos();
        await().atMost(PATIENCE)
                .until(() -> System.nanoTime() - rounds.silence().toNanos() - confirmedBy > 0);
        Reader reader = new Reader(rounds, 10);
        try {
            rounds.join(reader);
        } catch (IllegalStateException e) {
            // The clock's round carries it then.
        }
        await().atMost(PATIENCE).until(() -> reader.answers.get() >= 1);
        rounds.close();
    }

    @Test
    void anotherClusterMayConfirmLess_andTheSameMayNot() {
        ReadIndexRounds rounds = rounds(deadline -> {
            sent.add(new CompletableFuture<>());
            return sent.get(sent.size() - 1);
        });
        for (ReadIndex confirmed : List.of(index(1, 50), index(2, 20))) {
            Reader reader = new Reader(rounds, 0);
            rounds.join(reader);
            sent.get(sent.size() - 1).complete(confirmed);
            assertThat(reader.answers).hasValue(1);
            assertThat(rounds.failure()).isNull();
        }
        rounds.join(new Reader(rounds, 0));
        sent.get(2).complete(index(2, 19));
        assertThat(rounds.failure()).hasMessage("source revision decreased: confirmed 19 after 20");
    }

    private ReadIndexRounds rounds(ReadIndexSource source) {
        return rounds(source, SETTINGS, () -> 1);
    }

    private ReadIndexRounds rounds(ReadIndexSource source, ReadSettings settings, LongSupplier applied) {
        return new ReadIndexRounds(
                source, timers, settings, new AsOfClock(() -> 1), new ReadMetrics(new SimpleMeterRegistry()), applied);
    }

    private CompletableFuture<ReadIndex> givenByTheTest(Duration deadline) {
        CompletableFuture<ReadIndex> round = new CompletableFuture<>();
        sent.add(round);
        return round;
    }

    private CompletableFuture<ReadIndex> afterAMoment(Duration deadline) {
        long now = System.nanoTime();
        CompletableFuture<ReadIndex> round = givenByTheTest(deadline);
        var unused = timers.schedule(() -> round.complete(index(now)), 3, TimeUnit.MILLISECONDS);
        return round;
    }

    private static ReadIndex index(long sentNanos) {
        return new ReadIndex(new Revision(1), new ClusterId(7), new MemberId(2), sentNanos, null);
    }

    private static ReadIndex index(long cluster, long revision) {
        return new ReadIndex(new Revision(revision), new ClusterId(cluster), new MemberId(2), System.nanoTime(), null);
    }

    /** Reads repeatedly, without a pause. */
    private static final class Reader implements Confirmations.Rider {
        private final ReadIndexRounds rounds;
        private final int again;
        private final AtomicInteger answers = new AtomicInteger();

        Reader(ReadIndexRounds rounds, int again) {
            this.rounds = rounds;
            this.again = again;
        }

        @Override
        public void sent() {}

        @Override
        public void confirmed(long revision, long asOfNanos) {
            if (answers.incrementAndGet() <= again) {
                rounds.join(this);
            }
        }

        @Override
        public void failed(@Nullable ApiException fatal) {}
    }

    private record Refused(CompletableFuture<String> why) implements Confirmations.Rider {
        @Override
        public void sent() {}

        @Override
        public void confirmed(long revision, long asOfNanos) {}

        @Override
        public void failed(@Nullable ApiException fatal) {
            why.complete(fatal == null ? "" : fatal.text());
        }
    }

    private static final class FailingRider implements Confirmations.Rider {
        @Override
        public void sent() {
            throw new IllegalStateException("as the test wants");
        }

        @Override
        public void confirmed(long revision, long asOfNanos) {
            throw new IllegalStateException("as the test wants");
        }

        @Override
        public void failed(@Nullable ApiException fatal) {
            throw new IllegalStateException("as the test wants");
        }
    }

    private record Checked(long came, ConcurrentLinkedQueue<String> violations, AtomicInteger answered)
            implements Confirmations.Rider {

        @Override
        public void sent() {}

        @Override
        public void confirmed(long revision, long asOfNanos) {
            if (asOfNanos - came < 0) {
                violations.add("came " + (came - asOfNanos) + " ns after its round was sent");
            }
            answered.incrementAndGet();
        }

        @Override
        public void failed(@Nullable ApiException fatal) {}
    }
}
