package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.etcd.CommitBatch.TargetCommit;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which thread writes, and when. */
@Timeout(30)
final class GroupCommitTest {

    private static final ClusterId SOURCE = new ClusterId(1);
    private static final long ROOM = 1_000_000;

    /** A batch that was written: by which thread, and up to which revision. */
    private record Written(Thread by, long upTo) {}

    private final List<Written> written = new CopyOnWriteArrayList<>();
    /** One is taken for each batch. */
    private final Semaphore turns = new Semaphore(1_000);

    private final AtomicLong nanos = new AtomicLong();

    private final GroupCommit group = group(batch -> {
        turns.acquireUninterruptibly();
        written.add(
                new Written(Thread.currentThread(), batch.position().revision().value()));
    });

    private long revision;

    @AfterEach
    void close() {
        turns.release(1_000);
        group.close();
    }

    @Test
    void flushWritesAFewCommitsOnTheCallersThread() {
        add(3);
        assertThat(written).isEmpty();
        group.flush();
        assertThat(written).containsExactly(new Written(Thread.currentThread(), 3));
        group.flush();
        assertThat(written).hasSize(1);
    }

    @Test
    void manyCommitsAreWrittenByTheThreadWhileMoreGather() {
        add(100);
        await().atMost(Duration.ofSeconds(10)).until(() -> !written.isEmpty());
        assertThat(written.get(0).by()).isNotSameAs(Thread.currentThread());
        group.drain();
        assertThat(written.get(written.size() - 1).upTo()).isEqualTo(100);
    }

    @Test
    void repeatedCommitsOfOneKeyAreWrittenByTheThreadAsWell() {
        for (int i = 0; i < 100; i++) {
            group.add(commit("k"), ROOM);
        }
        await().atMost(Duration.ofSeconds(10)).until(() -> !written.isEmpty());
    }

    @Test
    void aCommitIsWrittenByTheThreadDespiteEndlessProgressMarks() {
        add(1);
        assertThat(group.advance(position(++revision), Instant.now(), () -> false))
                .isTrue();
        pass(Duration.ofMillis(21));
        assertThat(group.advance(position(++revision), Instant.now(), () -> false))
                .isTrue();
        await().atMost(Duration.ofSeconds(10)).until(() -> !written.isEmpty());
        assertThat(written).extracting(Written::upTo).containsExactly(3L);
        assertThat(written.get(0).by()).isNotSameAs(Thread.currentThread());
    }

    @Test
    void endlessProgressMarksAreWrittenByTheThreadAsWell() {
        assertThat(group.advance(position(++revision), Instant.now(), () -> true))
                .isTrue();
        pass(Duration.ofMillis(21));
        assertThat(group.advance(position(++revision), Instant.now(), () -> true))
                .isTrue();
        await().atMost(Duration.ofSeconds(10)).until(() -> !written.isEmpty());
    }

    @Test
    void commitsWithLeasesAreWrittenByTheThread() {
        group.add(
                new TargetCommit(
                        List.of(EtcdMessages.put(ByteString.copyFromUtf8("k"), ByteString.copyFromUtf8("v"), 7)),
                        List.of(SOURCE),
                        position(++revision),
                        Instant.now(),
                        true),
                ROOM);
        group.drain();
        assertThat(written).extracting(Written::by).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void commitsGatheredWhileTheThreadWritesAreWrittenByItToo() {
        turns.drainPermits();
        add(16);
        await().atMost(Duration.ofSeconds(10)).until(turns::hasQueuedThreads);
        add(1);
        group.flush();
        assertThat(written).isEmpty();
        turns.release(2);
        await().atMost(Duration.ofSeconds(10)).until(() -> written.size() == 2);
        assertThat(written).extracting(Written::upTo).containsExactly(16L, 17L);
        assertThat(written).extracting(Written::by).doesNotContain(Thread.currentThread());
    }

    @Test
    void singleCommitsAreNotDelayedAndGroupsWaitForMore() {
        assertThat(group.pause()).isZero();
        add(1);
        group.flush();
        add(1);
        assertThat(group.pause()).isZero();
        add(4);
        group.flush();
        assertThat(group.pause()).as("with nothing to write").isZero();
        add(1);
        assertThat(group.pause()).isEqualTo(Duration.ofMillis(2));
        pass(Duration.ofMillis(1));
        assertThat(group.pause()).isEqualTo(Duration.ofMillis(1));
        pass(Duration.ofMillis(1));
        assertThat(group.pause()).isZero();
        group.flush();
        add(1);
        assertThat(group.pause()).as("after one alone").isZero();
    }

    @Test
    void aProgressMarkIsWrittenOnlyIfWanted() {
        assertThat(group.advance(position(7), Instant.now(), () -> false)).isFalse();
        group.flush();
        assertThat(written).isEmpty();
        assertThat(group.advance(position(8), Instant.now(), () -> true)).isTrue();
        group.flush();
        assertThat(written).extracting(Written::upTo).containsExactly(8L);
    }

    @Test
    void aTaskRunsBetweenBatchesAndLaterCommitsAreWrittenAfterIt() {
        turns.drainPermits();
        add(1);
        CompletableFuture<Integer> task = CompletableFuture.supplyAsync(() -> {
            await().atMost(Duration.ofSeconds(10)).until(turns::hasQueuedThreads);
            CompletableFuture<Integer> before = new CompletableFuture<>();
            CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> turns.release(2));
            group.between(() -> before.complete(written.size()));
            return before.join();
        });
        group.flush();
        add(1);
        group.drain();
        assertThat(written).extracting(Written::upTo).containsExactly(1L, 2L);
        assertThat(task.join()).isBetween(1, 2);
    }

    @Test
    void aTaskWithoutCommitsRunsAtOnce() {
        CompletableFuture<Thread> by = new CompletableFuture<>();
        group.between(() -> by.complete(Thread.currentThread()));
        assertThat(by.join()).isNotSameAs(Thread.currentThread());
    }

    @Test
    void afterAFailureOnEitherThreadNothingIsWritten() {
        for (int commits : List.of(1, 100)) {
            List<Long> tried = new CopyOnWriteArrayList<>();
            try (GroupCommit failing = group(batch -> {
                tried.add(batch.position().revision().value());
                throw new SinkException.Refused("no");
            })) {
                assertThatThrownBy(() -> {
                            for (int i = 0; i < commits; i++) {
                                failing.add(commit("k" + i), ROOM);
                            }
                            failing.drain();
                        })
                        .isInstanceOf(SinkException.Refused.class);
                assertThatThrownBy(failing::flush).isInstanceOf(SinkException.Refused.class);
                assertThatThrownBy(() -> failing.add(commit("k"), ROOM)).isInstanceOf(SinkException.Refused.class);
                assertThatThrownBy(() -> failing.between(() -> tried.add(-1L)))
                        .isInstanceOf(SinkException.Refused.class);
                assertThat(tried).hasSize(1);
            }
        }
    }

    @Test
    void anInterruptedWriteThrowsStoppedAndKeepsTheInterrupt() {
        try (GroupCommit interrupted = group(batch -> {
            Thread.currentThread().interrupt();
            throw new SinkException.Stopped("writing");
        })) {
            interrupted.add(commit("k"), ROOM);
            assertThatThrownBy(interrupted::flush).isInstanceOf(SinkException.Stopped.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private void add(int commits) {
        for (int i = 0; i < commits; i++) {
            group.add(commit("k" + i), ROOM);
        }
    }

    private TargetCommit commit(String key) {
        revision++;
        return new TargetCommit(
                List.of(EtcdMessages.put(ByteString.copyFromUtf8(key), ByteString.copyFromUtf8("v"))),
                List.of(SOURCE),
                position(revision),
                Instant.now(),
                false);
    }

    private static Position position(long revision) {
        return new Position(SOURCE, new Revision(revision), null);
    }

    private GroupCommit group(Consumer<CommitBatch> writer) {
        return new GroupCommit("group-commit-test", TargetHistory.COALESCED, writer, nanos::get);
    }
}
