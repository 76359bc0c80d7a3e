package io.understudy.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How fast commits are applied while another thread reads. Measured in the writing thread's CPU time, so that a busy
 * machine doesn't fail it; the best of some rounds, so that the first ones warm up.
 */
@Tag("speed")
@Timeout(120)
final class WriteSpeedTest {

    private static final Logger LOG = LoggerFactory.getLogger(WriteSpeedTest.class);
    private static final int KEYS = 100_000;
    private static final long REQUIRED_PER_SECOND = 100_000;
    private static final int ROUNDS = 15;
    private static final int COMMITS = 20_000;
    private static final ClusterId CLUSTER = new ClusterId(1);

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Random random = new Random(20_261_121);
    private final Replica replica = new Replica(KeyRange.all(), state -> {});
    private long revision = 1_000_000;

    @Test
    void aHundredThousandChangesASecondAreAppliedWhileOthersRead() throws InterruptedException {
        load();
        AtomicBoolean done = new AtomicBoolean();
        AtomicLong reads = new AtomicLong();
        Thread reader = new Thread(() -> read(done, reads), "reader");
        reader.start();
        long best = 0;
        for (int i = 0; i < ROUNDS && best < 2 * REQUIRED_PER_SECOND; i++) {
            best = Math.max(best, perSecond());
        }
        done.set(true);
        reader.join();
        LOG.info("applied changesPerSecond={} while readsInAll={}", best, reads);
        assertThat(best).isGreaterThanOrEqualTo(REQUIRED_PER_SECOND);
        assertThat(reads).hasPositiveValue();
    }

    private long perSecond() {
        List<Commit> commits = new ArrayList<>(COMMITS);
        for (int i = 0; i < COMMITS; i++) {
            revision++;
            commits.add(
                    new Commit(new Revision(revision), List.of(new Change.Put(entry(random.nextInt(KEYS), revision)))));
        }
        long begin = threads.getCurrentThreadCpuTime();
        for (Commit commit : commits) {
            replica.commit(commit, new Position(CLUSTER, commit.revision(), null));
        }
        return COMMITS * TimeUnit.SECONDS.toNanos(1) / Math.max(1, threads.getCurrentThreadCpuTime() - begin);
    }

    /** Reads ranges of a thousand keys, each of one state. */
    private void read(AtomicBoolean done, AtomicLong reads) {
        Random own = new Random(1);
        while (!done.get()) {
            ReplicaState state = replica.state();
            EntryCursor cursor = state.cursor(KeyRange.fromKey(key(own.nextInt(KEYS))));
            long newest = 0;
            for (int i = 0; i < 1_000 && cursor.hasNext(); i++) {
                newest = Math.max(newest, cursor.next().modRevision());
            }
            if (newest > state.revision().value()) {
                throw new IllegalStateException("a state with a later change in it");
            }
            reads.incrementAndGet();
        }
    }

    private void load() {
        List<KeyValue> entries = new ArrayList<>(KEYS);
        for (int i = 0; i < KEYS; i++) {
            entries.add(entry(i, 1_000 + i));
        }
        replica.snapshotStarted(CLUSTER, new Revision(revision));
        replica.snapshotPage(KeyRange.all(), entries);
        replica.snapshotCompleted(new Position(CLUSTER, new Revision(revision), null));
    }

    private static KeyValue entry(int number, long modRevision) {
        return new KeyValue(
                key(number),
                ByteString.copyFrom(new byte[256]),
                new Revision(1_000 + number),
                new Revision(modRevision),
                1,
                0);
    }

    private static ByteString key(int number) {
        return ByteString.copyFromUtf8(String.format("/registry/%010d", number));
    }
}
