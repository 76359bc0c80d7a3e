package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.ElectionState;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.jspecify.annotations.Nullable;

/**
 * A mirror survives the loss of its active role at every point: schedules of a source, an election and a target, all of which
 * fail at random, end with a target that equals the source. No commit is given to a sink twice, none is left out. A snapshot
 * is read only where the target has no checkpoint or the source has compacted what follows it, and no part of it that the
 * target holds is read again while the source has its revision.
 *
 * <p>Tests invariants M1, M8, M41.
 */
final class FlappingRoleTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ClusterId SOURCE = new ClusterId(1);
    private static final int FAULTS = 12;

    @Property(tries = 10_000, shrinking = ShrinkingMode.OFF)
    void theTargetEqualsTheSourceAfterAnySchedule(@ForAll long seed) throws InterruptedException {
        World world = new World(new Random(seed));
        MirrorPlan plan = new MirrorPlan(
                KeyRange.all(),
                FeedKind.STATE,
                "source",
                (range, kind, from) -> world.new ModelFeed(from),
                CompletableFuture::new,
                true,
                Optional::empty,
                CompletableFuture::new,
                "target",
                world.new ModelRole(),
                Optional::empty,
                listener -> world.new ModelSink());
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        MirrorStatus status = new MirrorStatus("dr", "source", "target", PATIENCE, meters);
        try (Pipeline pipeline = Pipeline.start("dr", () -> plan, null, status, meters, Duration.ZERO)) {
            var unused = pipeline.failure().thenRun(world.caughtUp::countDown);
            boolean done = world.caughtUp.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            world.noticed.countDown();
            assertThat(pipeline.failure().getNow(null)).isNull();
            assertThat(done).as("caught up; %s", world).isTrue();
        }
        assertThat(world.faults).isEmpty();
        assertThat(world.target).isEqualTo(world.source);
    }

    /** All of it runs on the pipeline's thread. */
    private static final class World {
        private final Random random;
        private final CountDownLatch caughtUp = new CountDownLatch(1);
        /** Counted down by the test, for which the pipeline waits rather than polling on. */
        private final CountDownLatch noticed = new CountDownLatch(1);

        private final List<String> faults = new ArrayList<>();

        private final List<Commit> commits = new ArrayList<>();
        private final Map<String, String> source = new TreeMap<>();
        private long head = 1;
        private long compacted;

        private final Map<String, String> target = new TreeMap<>();
        private @Nullable Position checkpoint;
        /** Of the snapshot of which the target holds a part. */
        private @Nullable UnfinishedSnapshot unfinished;

        private long epoch;

        private boolean active = true;
        private long activation = 1;
        private int faultsLeft = FAULTS;
        /** Whether the next feed may begin with a snapshot. */
        private boolean mayCopy = true;

        World(Random random) {
            this.random = random;
            write();
        }

        /** Called at every point at which something may happen. */
        private void tick() {
            if (faultsLeft == 0) {
                regain();
                return;
            }
            switch (random.nextInt(12)) {
                case 0 -> lose();
                case 1 -> regain();
                case 2 -> {
                    lose();
                    regain();
                }
                case 3 -> anotherProcessWrites();
                case 4 -> compact();
                case 5, 6 -> write();
                default -> {}
            }
        }

        private void lose() {
            if (active) {
                active = false;
                faultsLeft--;
            }
        }

        private void regain() {
            if (!active) {
                active = true;
                activation++;
            }
        }

        private void anotherProcessWrites() {
            lose();
            epoch++;
            if (checkpoint != null && compacted <= checkpoint.revision().value()) {
                commits.stream()
                        .filter(commit -> commit.revision().isAfter(checkpoint.revision()) && random.nextBoolean())
                        .findFirst()
                        .ifPresent(last -> upTo(last.revision()));
            }
        }

        private void upTo(Revision last) {
            for (Commit commit : commits) {
                if (commit.revision().isAfter(checkpoint.revision())
                        && !commit.revision().isAfter(last)) {
                    apply(commit, target);
                }
            }
            checkpoint = at(last.value());
        }

        private void compact() {
            if (random.nextInt(10) == 0) {
                compacted = head;
                faultsLeft--;
            }
        }

        private void write() {
            head++;
            ByteString key = ByteString.copyFromUtf8("k" + random.nextInt(5));
            Change change = random.nextInt(3) == 0
                    ? new Change.Delete(key)
                    : new Change.Put(new KeyValue(
                            key, ByteString.copyFromUtf8("v" + head), new Revision(head), new Revision(head), 1, 0));
            Commit commit = new Commit(new Revision(head), List.of(change));
            commits.add(commit);
            apply(commit, source);
        }

        private Map<String, String> stateAt(long revision) {
            Map<String, String> state = new TreeMap<>();
            for (Commit commit : commits) {
                if (commit.revision().value() <= revision) {
                    apply(commit, state);
                }
            }
            return state;
        }

        private static void apply(Commit commit, Map<String, String> keys) {
            for (Change change : commit.changes()) {
                if (change instanceof Change.Put put) {
                    keys.put(put.key().toStringUtf8(), put.keyValue().value().toStringUtf8());
                } else {
                    keys.remove(change.key().toStringUtf8());
                }
            }
        }

        private void check(boolean isRight, String what) {
            if (!isRight) {
                faults.add(what);
                throw new IllegalStateException(what);
            }
        }

        @Override
        public String toString() {
            return "head " + head + ", checkpoint " + checkpoint + ", faults left " + faultsLeft + ", active " + active;
        }

        private final class ModelRole implements ActiveRole {
            @Override
            public void compete(boolean competes) {}

            @Override
            public ElectionState state() {
                tick();
                return active ? new ElectionState.Active() : new ElectionState.Unknown("no response");
            }

            @Override
            public void awaitChange(ElectionState seen, Duration atMost) {
                regain();
            }

            @Override
            public long activation() {
                return activation;
            }

            @Override
            public boolean isConfirmed(long since) {
                return active && activation == since;
            }

            @Override
            public void close() {}
        }

        private final class ModelFeed implements Feed {
            private @Nullable Position position;
            private @Nullable UnfinishedSnapshot snapshot;
            private @Nullable UnfinishedSnapshot toBeContinued;

            ModelFeed(@Nullable FeedStart from) {
                check(from instanceof Position || mayCopy, "a snapshot is read although the target has " + checkpoint);
                position = from instanceof Position reached ? reached : null;
                toBeContinued = from instanceof UnfinishedSnapshot begun ? begun : null;
            }

            @Override
            public boolean poll(Duration timeout, FeedConsumer consumer)
                    throws FeedEndedException, InterruptedException {
                if (caughtUp.getCount() == 0) {
                    boolean unused = noticed.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
                    return false;
                }
                tick();
                if (position == null) {
                    copy(consumer);
                    return true;
                }
                Position reached = position;
                if (reached.revision().value() < compacted) {
                    mayCopy = true;
                    throw new FeedEndedException.Gap(reached, new Revision(compacted), "compacted");
                }
                for (Commit commit : commits) {
                    if (commit.revision().isAfter(reached.revision())) {
                        position = at(commit.revision().value());
                        consumer.commit(commit, position);
                        return true;
                    }
                }
                return false;
            }

            private void copy(FeedConsumer consumer) {
                UnfinishedSnapshot current = snapshot;
                UnfinishedSnapshot begun = toBeContinued;
                toBeContinued = null;
                if (begun != null && begun.pin().revision().value() >= compacted) {
                    snapshot = begun;
                    consumer.snapshotResumed(begun.pin());
                } else if (current == null || current.pin().revision().value() < compacted) {
                    Position pin = pin(head);
                    snapshot = new UnfinishedSnapshot(pin, List.of(KeyRange.all()));
                    consumer.snapshotPinned(pin);
                    consumer.snapshotStarted(SOURCE, pin.revision());
                } else if (current.rest().isEmpty()) {
                    Position reached = at(current.pin().revision().value());
                    position = reached;
                    mayCopy = false;
                    consumer.snapshotCompleted(reached);
                } else {
                    page(current, consumer);
                }
            }

            /** Of one key at most. */
            private void page(UnfinishedSnapshot current, FeedConsumer consumer) {
                KeyRange first = current.rest().get(0);
                Revision revision = current.pin().revision();
                List<KeyValue> entries = stateAt(revision.value()).entrySet().stream()
                        .map(entry -> new KeyValue(
                                ByteString.copyFromUtf8(entry.getKey()),
                                ByteString.copyFromUtf8(entry.getValue()),
                                revision,
                                revision,
                                1,
                                0))
                        .filter(entry -> first.contains(entry.key()))
                        .limit(1)
                        .toList();
                KeyRange covered = entries.isEmpty()
                        ? first
                        : new KeyRange(
                                first.from(),
                                KeyRange.single(entries.get(0).key()).to());
                snapshot = new UnfinishedSnapshot(current.pin(), without(current.rest(), covered));
                consumer.snapshotPage(covered, entries);
            }

            @Override
            public void requestProgress() {}

            @Override
            public void close() {}
        }

        private final class ModelSink implements Sink {
            private final List<Commit> given = new ArrayList<>();
            private long ours;
            private @Nullable Position reached;
            private boolean copying;
            private @Nullable Position pinned;

            /** The target fails before or after it has done what was requested. */
            private void request(Runnable effect) {
                tick();
                if (faultsLeft > 0 && random.nextInt(15) == 0) {
                    faultsLeft--;
                    if (random.nextBoolean() && epoch == ours) {
                        effect.run();
                    }
                    throw new SinkException.Unavailable("no response", new IllegalStateException());
                }
                if (epoch != ours) {
                    throw new SinkException.Fenced("another process writes");
                }
                effect.run();
            }

            @Override
            public @Nullable FeedStart open() {
                ours = ++epoch;
                request(() -> {});
                reached = checkpoint;
                mayCopy = checkpoint == null;
                return checkpoint == null ? unfinished : checkpoint;
            }

            @Override
            public void snapshotPinned(Position pin) {
                pinned = pin;
            }

            @Override
            public void snapshotStarted(ClusterId cluster, Revision revision) {
                given.clear();
                copying = true;
                UnfinishedSnapshot begun =
                        new UnfinishedSnapshot(Objects.requireNonNull(pinned), List.of(KeyRange.all()));
                request(() -> {
                    checkpoint = null;
                    unfinished = begun;
                });
            }

            @Override
            public void snapshotResumed(Position pin) {
                check(unfinished != null && unfinished.pin().equals(pin), "another snapshot is resumed");
                copying = true;
            }

            @Override
            public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
                UnfinishedSnapshot begun = unfinished;
                check(copying && begun != null, "a page without a snapshot");
                request(() -> {
                    check(
                            begun.rest().stream().anyMatch(range -> range.covers(covered)),
                            "a page is given again that the target has");
                    target.keySet().removeIf(key -> covered.contains(ByteString.copyFromUtf8(key)));
                    entries.forEach(entry ->
                            target.put(entry.key().toStringUtf8(), entry.value().toStringUtf8()));
                    unfinished = new UnfinishedSnapshot(begun.pin(), without(begun.rest(), covered));
                });
            }

            @Override
            public void snapshotCompleted(Position position) {
                check(copying, "the end of a snapshot that did not begin");
                copying = false;
                reached = position;
                request(() -> {
                    check(target.equals(stateAt(position.revision().value())), "a part of the snapshot is missing");
                    checkpoint = position;
                    unfinished = null;
                });
            }

            @Override
            public void commit(Commit commit, Position position) {
                Position before = reached;
                check(!copying && before != null, "a commit within a snapshot");
                long next = commits.stream()
                        .mapToLong(each -> each.revision().value())
                        .filter(revision -> revision > before.revision().value())
                        .findFirst()
                        .orElseThrow();
                check(
                        commit.revision().value() == next,
                        "the feed gave revision " + commit.revision() + " after revision " + before.revision());
                reached = position;
                given.add(commit);
                if (given.size() > 3) {
                    write();
                }
            }

            private void write() {
                Position until = reached;
                request(() -> {
                    given.forEach(commit -> apply(commit, target));
                    given.clear();
                    checkpoint = until;
                });
            }

            @Override
            public void caughtUp() {
                if (!given.isEmpty()) {
                    write();
                }
            }

            @Override
            public void settle() {
                if (!given.isEmpty()) {
                    write();
                }
                if (faultsLeft == 0
                        && checkpoint != null
                        && checkpoint.revision().value() == head) {
                    caughtUp.countDown();
                }
            }

            @Override
            public void sourceReset(FeedEndedException why) {}

            @Override
            public void progress(Position position) {}

            @Override
            public Duration pause() {
                return Duration.ZERO;
            }

            @Override
            public @Nullable Checkpoint checkpoint() {
                return null;
            }

            @Override
            public Revision complete() {
                return checkpoint == null ? Revision.ZERO : checkpoint.revision();
            }

            @Override
            public void close() {}
        }
    }

    private static Position at(long revision) {
        return new Position(SOURCE, new Revision(revision), null);
    }

    private static Position pin(long revision) {
        Revision at = new Revision(revision);
        return new Position(
                SOURCE, at, new Position.Anchor(at, CommitDigest.parse("00".repeat(CommitDigest.SIZE_BYTES))));
    }

    private static List<KeyRange> without(List<KeyRange> ranges, KeyRange covered) {
        return ranges.stream().flatMap(range -> range.without(covered).stream()).toList();
    }
}
