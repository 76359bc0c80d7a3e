package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.etcd.EtcdHistory;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.mirror.verify.Difference;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.Sides;
import io.understudy.mirror.verify.Verification;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares two clusters by all of their keys, or by those that their histories name. Holds a few pages, and the names of
 * changed keys. One thread.
 *
 */
final class EtcdComparer implements Direction.Comparer {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdComparer.class);
    private static final int MOST_CHANGED = 1_000_000;
    private static final int BATCH_KEYS = 64;
    private static final int SHOWN = 10;
    private static final int ANCHOR_REVISIONS = 1_000;
    /** Of a key with previous values that were compacted. */
    private static final long UNKNOWN_LEASE = -1;

    private static final Duration PAUSE = Duration.ofMillis(20);

    private final Sides sides;
    private final boolean marked;
    private final TakeOverCalls from;
    private final TakeOverCalls to;
    private final Duration patience;
    private final TakeOver.Steps steps;

    /** Kept for the next comparison of changes: clients wait for that, and to open one takes several round trips. */
    private final Map<TakeOverCalls, Reader> open = new HashMap<>();

    /**
     * @param marked whether the mirror's feed has the marks of other mirrors, too
     * @param steps given how many keys, or revisions of a history, are compared
     */
    EtcdComparer(
            Sides sides,
            boolean marked,
            TakeOverCalls from,
            TakeOverCalls to,
            Duration patience,
            TakeOver.Steps steps) {
        this.sides = sides;
        this.marked = marked;
        this.from = from;
        this.to = to;
        this.patience = patience;
        this.steps = steps;
    }

    /** What a cluster has of a key. */
    private record State(ByteString value, boolean leased) {}

    @Override
    public Equal all() {
        VerifyResult result;
        try {
            long total = keys();
            result = Verification.run(sides, keys -> steps.progress(keys, total));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TakeOverException("interrupted during the comparison", e);
        }
        if (result instanceof NotComparable not) {
            throw new TakeOverException("the clusters could not be compared: " + not.reason());
        }
        VerifyReport report = (VerifyReport) result;
        if (!report.isEqual()) {
            throw new TakeOverException(differing(
                    report.differing(),
                    report.differences().stream()
                            .limit(SHOWN)
                            .map(Difference::shown)
                            .collect(Collectors.joining(", "))));
        }
        return new Equal(
                report.sourceRevision().value(), report.targetRevision().value(), report.keys());
    }

    /** How many keys are compared, about. */
    private long keys() {
        return sides.scope().sourceRanges().stream()
                .mapToLong(range -> from.range(RangeRequest.newBuilder()
                                .setKey(range.etcdKey())
                                .setRangeEnd(range.etcdRangeEnd())
                                .setCountOnly(true)
                                .build())
                        .getCount())
                .sum();
    }

    @Override
    public Equal changed(Equal before) {
        Found now = synced();
        long reached = checkpoint(now).revision().value();
        Set<ByteString> keys = new LinkedHashSet<>();
        reader(from, before.from()).read(reached, step -> step.commit().changes().stream()
                .map(Change::key)
                .filter(sides.scope()::contains)
                .map(sides.scope()::inTarget)
                .forEach(keys::add));
        keys.addAll(changedInTarget(before, now.revision()));
        List<ByteString> differing = differing(keys, reached, now.revision(), this::isOurs);
        if (!differing.isEmpty()) {
            throw new TakeOverException(differing(
                    differing.size(),
                    differing.stream().limit(SHOWN).map(TakeOverReport::shown).collect(Collectors.joining(", "))));
        }
        return new Equal(reached, now.revision(), keys.size());
    }

    @Override
    public List<ByteString> overwritten(Equal before, long until, long firstAt) {
        return differing(changedInTarget(before, until), firstAt, until, this::isOurs);
    }

    private Set<ByteString> changedInTarget(Equal before, long until) {
        Set<ByteString> keys = new LinkedHashSet<>();
        List<KeyRange> written = sides.scope().targetRanges();
        reader(to, before.to()).read(until, step -> step.commit().changes().stream()
                .map(Change::key)
                .filter(key -> !ReservedKeys.contains(key) && written.stream().anyMatch(range -> range.contains(key)))
                .forEach(keys::add));
        return keys;
    }

    /** A key that only the target has may be foreign. */
    private boolean isOurs(Optional<?> source) {
        return source.isPresent() || !sides.keepsForeign();
    }

    private String differing(long keys, String shown) {
        return to.shown() + " differs from " + from.shown() + " in " + keys + " keys: " + shown
                + ". Set onForeignWrites: repair, wait until \"understudy mirror verify\" finds none, and run the"
                + " command again";
    }

    private Found synced() {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            Found now = new Records(to, sides.mirror()).read();
            if (checkpoint(now).state() == CheckpointState.SYNCED) {
                return now;
            }
            if (System.nanoTime() - end > 0) {
                throw new TakeOverException("the checkpoint at " + to.shown() + " is "
                        + checkpoint(now).state().word());
            }
            PatientCalls.pause(PAUSE);
        }
    }

    private Checkpoint checkpoint(Found found) {
        Checkpoint checkpoint = found.checkpoint();
        if (checkpoint == null) {
            throw new TakeOverException("the checkpoint at " + to.shown() + " was deleted");
        }
        return checkpoint;
    }

    @Override
    public Lost lostBetween(long after, long until) {
        if (until < after) {
            return new Lost(
                    List.of(), from.shown() + " is at revision " + until + ", below the mirrored revision " + after);
        }
        Set<ByteString> keys = new LinkedHashSet<>();
        history(from, after, until, commit -> commit.changes().stream()
                .map(Change::key)
                .filter(sides.scope()::contains)
                .map(sides.scope()::inTarget)
                .forEach(keys::add));
        // None of them is foreign: clients of the first cluster wrote or deleted each.
        return new Lost(differing(keys, until, 0, source -> true), null);
    }

    @Override
    public boolean hasWrites(long after, long until) {
        // A put counts as a change of a key without a lease.
        Set<Long> leases = new HashSet<>();
        try (Reader reader = new Reader(from, range(from), after, true)) {
            reader.read(until, committed -> {
                Map<ByteString, Long> before = leasesBefore(committed);
                committed.commit().changes().stream()
                        .filter(change -> sides.scope().contains(change.key()))
                        .map(change -> change instanceof Change.Put
                                ? Long.valueOf(0)
                                : before.getOrDefault(change.key(), UNKNOWN_LEASE))
                        .forEach(leases::add);
            });
        } catch (TakeOverException e) {
            if (!(e.getCause() instanceof FeedEndedException)) {
                throw e;
            }
            return true;
        }
        return leases.contains(0L)
                || leases.contains(UNKNOWN_LEASE)
                || !from.keepAlive(List.copyOf(leases)).isEmpty();
    }

    private static Map<ByteString, Long> leasesBefore(EtcdHistory.Step.Committed committed) {
        Map<ByteString, Long> leases = new HashMap<>();
        committed.previous().forEach(each -> leases.put(each.key(), each.lease()));
        return leases;
    }

    @Override
    public Lost lostAfter(Checkpoint reached) {
        Anchor anchor = reached.anchor();
        String unknown = anchor == null ? "the checkpoint has no commit of " + from.shown() : unrecognised(anchor);
        // The range has no commits between the anchor and the checkpoint, unless in another history.
        Lost lost = lostBetween(
                (anchor == null ? reached.revision() : anchor.revision()).value(),
                new Records(from, sides.mirror()).read().revision());
        return lost.unknown() != null || unknown == null ? lost : new Lost(lost.keys(), unknown);
    }

    /** Why the history of the first cluster may be another one; null if it has that commit. */
    private @Nullable String unrecognised(Anchor anchor) {
        long revision = anchor.revision().value();
        boolean[] found = {false};
        try {
            history(
                    from,
                    sides.scope().feedRange(marked),
                    revision - 1,
                    revision,
                    commit -> found[0] |= Anchor.of(commit).equals(anchor));
        } catch (TakeOverException e) {
            return e.getMessage();
        }
        return found[0] ? null : from.shown() + " has another history: its commit at revision " + revision + " differs";
    }

    @Override
    public void differing(Consumer<ByteString> each) {
        sides.scope()
                .sourceRanges()
                .forEach(range -> compared(from, range, sides.scope()::contains, sides.scope()::inTarget, each));
        sides.scope()
                .targetRanges()
                .forEach(range ->
                        compared(to, range, sides.scope().reversed()::contains, UnaryOperator.identity(), each));
    }

    private void compared(
            TakeOverCalls cluster,
            KeyRange range,
            Predicate<ByteString> mirrored,
            UnaryOperator<ByteString> inTarget,
            Consumer<ByteString> each) {
        long[] compared = {0};
        Records.keys(cluster, range, page -> {
            List<ByteString> keys = page.stream().filter(mirrored).map(inTarget).toList();
            // What both have was compared from the first one.
            differing(keys, 0, 0, source -> cluster == from || source.isEmpty(), each);
            compared[0] += keys.size();
            steps.progress(compared[0], 0);
        });
    }

    @Override
    public List<ByteString> missingSince(TakeOverCalls cluster, long revision, long until, boolean expired) {
        boolean isFirst = cluster == from;
        MirrorScope scope = isFirst ? sides.scope() : sides.scope().reversed();
        Map<ByteString, Long> leases = new LinkedHashMap<>();
        long last =
                until > 0 ? until : new Records(cluster, sides.mirror()).read().revision();
        try (Reader reader = new Reader(cluster, range(cluster), revision, expired)) {
            reader.read(last, committed -> {
                Map<ByteString, Long> before = leasesBefore(committed);
                committed.commit().changes().stream()
                        .filter(change -> scope.contains(change.key()))
                        .forEach(change -> {
                            ByteString key = isFirst ? scope.inTarget(change.key()) : change.key();
                            if (change instanceof Change.Put) {
                                leases.remove(key);
                            } else {
                                leases.put(key, before.getOrDefault(change.key(), UNKNOWN_LEASE));
                            }
                        });
            });
        }
        if (expired) {
            leases.values().removeIf(lease -> lease == 0);
            Set<Long> known = new HashSet<>(leases.values());
            known.remove(UNKNOWN_LEASE);
            leases.values().removeAll(Set.copyOf(cluster.keepAlive(List.copyOf(known))));
        }
        return List.copyOf(leases.keySet());
    }

    @Override
    public @Nullable Anchor anchor(long revision) {
        Anchor[] last = {null};
        // With marks the commit at the revision, which moved the role, is delivered.
        long after = Math.max(0, revision - (marked ? 1 : ANCHOR_REVISIONS));
        try {
            KeyRange range = sides.scope().reversed().feedRange(marked);
            history(to, range, after, revision, commit -> last[0] = Anchor.of(commit));
        } catch (TakeOverException e) {
            // The mirror compares all keys instead.
            LOG.atInfo()
                    .addKeyValue("mirror", sides.mirror())
                    .addKeyValue("cause", e.getMessage())
                    .log("last commit not found; the reversed mirror compares all keys");
            return null;
        }
        return last[0];
    }

    @Override
    public boolean readsMarks() {
        return sides.scope().reversed().readsMarks(marked);
    }

    /** Commits after one revision, up to another. */
    private void history(TakeOverCalls calls, long after, long until, Consumer<Commit> commits) {
        history(calls, range(calls), after, until, commits);
    }

    private void history(TakeOverCalls calls, KeyRange range, long after, long until, Consumer<Commit> commits) {
        try (Reader reader = new Reader(calls, range, after, false)) {
            reader.read(until, step -> commits.accept(step.commit()));
        }
    }

    private KeyRange range(TakeOverCalls calls) {
        return calls == from
                ? sides.scope().feedRange(false)
                : sides.scope().reversed().feedRange(false);
    }

    /** One that continues after the revision up to which it was read. */
    private Reader reader(TakeOverCalls calls, long after) {
        Reader kept = open.get(calls);
        if (kept != null && kept.after == after) {
            return kept;
        }
        if (kept != null) {
            kept.close();
        }
        Reader next = new Reader(calls, range(calls), after, false);
        open.put(calls, next);
        return next;
    }

    @Override
    public void close() {
        open.values().forEach(Reader::close);
        open.clear();
    }

    /** Reads the commits of one cluster, in parts. */
    private final class Reader implements AutoCloseable {

        private final TakeOverCalls calls;
        private final EtcdHistory history;
        /** Up to where it was read; -1 after a failure. */
        private long after;
        /** No other commit up to there. */
        private long reached;
        /** Of the next part; null for none. */
        private EtcdHistory.Step.@Nullable Committed next;

        /** @param previous whether commits are read with the previous values of their keys */
        Reader(TakeOverCalls calls, KeyRange range, long after, boolean previous) {
            this.calls = calls;
            this.after = after;
            this.reached = after;
            EtcdCluster cluster = calls == from ? sides.source() : sides.target();
            // Writers wait: without requests, progress past the last commit in the range takes a whole interval.
            EtcdFeedSource feeds = new EtcdFeedSource(
                    sides.mirror(), cluster, sides.reading().withProgressInterval(PAUSE), new SimpleMeterRegistry());
            // From a revision that is known: etcd before 3.5.19 forgets a delete that it compacts at, and lets watches
            // begin there.
            history = feeds.history(range, new Revision(Math.max(1, after)), previous);
        }

        /** Gives each commit up to a revision. */
        void read(long until, Consumer<EtcdHistory.Step.Committed> commits) {
            long end = System.nanoTime() + patience.toNanos();
            long first = after;
            after = -1;
            int changes = 0;
            try {
                while (true) {
                    EtcdHistory.Step.Committed read = next;
                    if (read != null && read.commit().revision().value() <= until) {
                        next = null;
                        if (read.commit().revision().value() > first) {
                            commits.accept(read);
                            changes += read.commit().changes().size();
                        }
                    }
                    if (reached >= until) {
                        break;
                    }
                    EtcdHistory.Step step = history.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
                    if (step instanceof EtcdHistory.Step.Committed committed) {
                        next = committed;
                        reached = committed.commit().revision().value();
                        end = System.nanoTime() + patience.toNanos();
                    } else if (step instanceof EtcdHistory.Step.Complete complete) {
                        reached = complete.revision().value();
                        end = System.nanoTime() + patience.toNanos();
                    } else if (System.nanoTime() - end >= 0) {
                        throw new TakeOverException(calls.shown() + " returned its history up to revision " + reached
                                + " of " + until + " only");
                    }
                    steps.progress(Math.max(0, reached - first), until - first);
                    if (changes > MOST_CHANGED) {
                        throw new TakeOverException("more than " + MOST_CHANGED + " changes at " + calls.shown()
                                + " since revision " + first + ": run the command again when it is less busy");
                    }
                }
            } catch (FeedEndedException e) {
                throw new TakeOverException(calls.shown() + ": " + e.getMessage(), e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new TakeOverException("interrupted during the comparison", e);
            }
            after = Math.max(first, until);
        }

        @Override
        public void close() {
            history.close();
        }
    }

    /**
     * Those of some keys that the clusters have differently.
     *
     * @param keys as the second cluster names them
     * @param fromAt revision of the first cluster; 0 for the present one
     */
    private List<ByteString> differing(
            Set<ByteString> keys, long fromAt, long toAt, Predicate<Optional<State>> counts) {
        List<ByteString> differing = new ArrayList<>();
        differing(List.copyOf(keys), fromAt, toAt, counts, differing::add);
        return differing;
    }

    /** @param counts given what the first cluster has of a key */
    private void differing(
            List<ByteString> all,
            long fromAt,
            long toAt,
            Predicate<Optional<State>> counts,
            Consumer<ByteString> differing) {
        for (int first = 0; first < all.size(); first += BATCH_KEYS) {
            batch(all.subList(first, Math.min(all.size(), first + BATCH_KEYS)), fromAt, toAt, counts, differing);
        }
    }

    private void batch(
            List<ByteString> keys,
            long fromAt,
            long toAt,
            Predicate<Optional<State>> counts,
            Consumer<ByteString> differing) {
        List<Optional<State>> source;
        List<Optional<State>> target;
        try {
            boolean isLast = keys.size() == 1;
            source = states(isLast ? from : from.with(Duration.ZERO), sides.scope()::atSource, keys, fromAt);
            target = states(isLast ? to : to.with(Duration.ZERO), UnaryOperator.identity(), keys, toAt);
        } catch (TakeOverException e) {
            if (keys.size() == 1 || Thread.currentThread().isInterrupted()) {
                throw e;
            }
            // Together they may be more than one answer holds.
            batch(keys.subList(0, keys.size() / 2), fromAt, toAt, counts, differing);
            batch(keys.subList(keys.size() / 2, keys.size()), fromAt, toAt, counts, differing);
            return;
        }
        for (int i = 0; i < keys.size(); i++) {
            if (counts.test(source.get(i)) && !source.get(i).equals(target.get(i))) {
                differing.accept(keys.get(i));
            }
        }
    }

    private List<Optional<State>> states(
            TakeOverCalls cluster, UnaryOperator<ByteString> names, List<ByteString> keys, long revision) {
        TxnRequest.Builder reads = TxnRequest.newBuilder();
        keys.forEach(key -> reads.addSuccess(RequestOp.newBuilder()
                .setRequestRange(
                        RangeRequest.newBuilder().setKey(names.apply(key)).setRevision(revision))));
        return cluster.txn("changed keys", reads.build()).getResponsesList().stream()
                .map(ResponseOp::getResponseRange)
                .map(found -> found.getKvsList().stream().findFirst().map(this::state))
                .toList();
    }

    private State state(KeyValue found) {
        return new State(found.getValue(), sides.leases() && found.getLease() != 0);
    }
}
