package io.understudy.gateway.verify;

import static java.util.stream.Collectors.joining;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.config.Binder;
import io.understudy.config.Configured;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.SnapshotReader;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.EntryCursor;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the replica with its source continuously, on its own thread. Pages of the source are read serializably at
 * the revision of an immutable state of the replica and compared with it. The state is released after a few seconds,
 * and the comparison resumes with a newer one.
 *
 * <p>Pages are read whole and compared by entry, since members offer no digests of ranges. On a difference, the voting
 * members are queried. Either the replica is rebuilt, or the member that served the page is reported. Without a
 * majority the next round decides.
 *
 * <p>Invariant R6: a replica that differs from the source is detected, reported and rebuilt, but not for a fault of
 * another member.
 */
public final class Verifier {

    private static final Logger LOG = LoggerFactory.getLogger(Verifier.class);

    /** How long a state, and with it replaced entries, is retained. */
    private static final long HOLD_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final long PAUSE_MILLIS = 200;
    /** Consecutive undecided rounds before a problem is reported. */
    private static final int MOST_UNDECIDED_ROUNDS = 3;

    private static final long LEAST_PAGE_BYTES = 64L << 10;

    private final Replica replica;
    private final EtcdCluster source;
    private final EtcdFeedOptions pages;
    private final VerifySettings settings;
    private final IntConsumer compared;
    private final ObjIntConsumer<Side> differing;
    private final Thread thread = new Thread(this::run, "replica-verifier");
    private final CountDownLatch closing = new CountDownLatch(1);
    private final MajorityVote majority;
    private volatile @Nullable Found found;
    private volatile @Nullable Undecided undecided;
    /** The differing members found in this round or the last. */
    private volatile @Nullable String damaged;
    /** Confined to the verifier's thread. */
    private boolean damagedNow;

    /** A difference, with the replica's generation. */
    private record Found(String text, long generation) {}

    /** An undecided difference after a number of rounds. */
    private record Undecided(String text, int rounds, long generation) {}

    /** The faulty side of a difference. */
    public enum Side {
        REPLICA,
        SOURCE
    }

    /**
     * Creates a verifier; {@link #start} begins the comparison.
     *
     * @param feed settings for reading pages of the source
     * @param compared receives the number of compared keys, on the verifier's thread
     * @param differing receives the faulty side and its number of differing keys, on the verifier's thread
     */
    public Verifier(
            Replica replica,
            EtcdCluster source,
            EtcdFeedOptions feed,
            VerifySettings settings,
            IntConsumer compared,
            ObjIntConsumer<Side> differing) {
        this.replica = replica;
        this.source = source;
        this.settings = settings;
        this.compared = compared;
        this.differing = differing;
        // Half a second of reading, so that one state covers several pages.
        long pageBytes = Math.max(LEAST_PAGE_BYTES, Math.min(feed.pageBytes(), settings.bytesPerSecond() / 2));
        this.majority = new MajorityVote(source, feed.requestTimeout());
        this.pages = feed.withPageBytes(pageBytes);
        thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    /** Returns a difference of the replica, until it is rebuilt or dropped. Else several undecided rounds in a row. */
    public Optional<String> problem() {
        return differing().or(() -> open().filter(last -> last.rounds() >= MOST_UNDECIDED_ROUNDS)
                .map(last -> last.text() + ", for " + last.rounds() + " rounds"));
    }

    /** A differing member of the source or an undecided difference, until a round finds none. */
    public Optional<String> remark() {
        return Optional.ofNullable(damaged).or(() -> open().map(Undecided::text));
    }

    private Optional<String> differing() {
        Found last = found;
        return last != null && last.generation() == replica.generation() ? Optional.of(last.text()) : Optional.empty();
    }

    private Optional<Undecided> open() {
        return Optional.ofNullable(undecided).filter(last -> last.generation() == replica.generation());
    }

    /** Ends the comparison under way; waits for it up to {@code deadline}. Idempotent. */
    public void close(Duration deadline) throws InterruptedException {
        closing.countDown();
        thread.interrupt();
        thread.join(deadline.toMillis());
    }

    private void run() {
        try {
            while (!closing.await(settings.interval().toMillis(), TimeUnit.MILLISECONDS)) {
                compareAll();
            }
        } catch (InterruptedException e) {
            if (closing.getCount() > 0) {
                LOG.warn("verification interrupted");
            }
        }
    }

    private void compareAll() throws InterruptedException {
        KeyRange rest = differing().isPresent() ? null : replica.range();
        Undecided openBefore = undecided;
        String before = damaged;
        damagedNow = false;
        try {
            while (rest != null && closing.getCount() > 0) {
                rest = compareFrom(rest);
            }
            if (before != null && !damagedNow) {
                damaged = null;
            }
            if (Objects.equals(undecided, openBefore)) {
                undecided = null;
            }
        } catch (RuntimeException e) {
            LOG.error("verification failed; retrying later", e);
        }
    }

    /** Compares with the latest state while that may be held. Returns the remaining range; null to end the round. */
    private @Nullable KeyRange compareFrom(KeyRange range) throws InterruptedException {
        // Read before the state, so that a difference is never attributed to a later rebuild.
        long generation = replica.generation();
        ReplicaState state = replica.state();
        if (state == null) {
            return null;
        }
        long letGo = System.nanoTime() + HOLD_NANOS;
        ByteString from = range.from();
        try (SnapshotReader reader = new SnapshotReader(source, state.cluster(), range, state.revision(), pages)) {
            while (!reader.isDone() && System.nanoTime() < letGo) {
                SnapshotReader.Page page = reader.next(PATIENCE);
                if (page == null) {
                    pause(PAUSE_MILLIS);
                } else if (isSame(state, page, reader.givenBy(), generation)) {
                    from = page.covered().to();
                    pause(TimeUnit.SECONDS.toMillis(page.bytes()) / settings.bytesPerSecond());
                } else {
                    return null;
                }
            }
            return reader.isDone() ? null : new KeyRange(from == null ? ByteString.EMPTY : from, range.to());
        } catch (SnapshotReader.CompactedException e) {
            pause(PAUSE_MILLIS);
            return new KeyRange(from == null ? ByteString.EMPTY : from, range.to());
        } catch (FeedEndedException e) {
            // The feed fails too and handles it.
            LOG.atInfo().addKeyValue("cause", e.getMessage()).log("verification skipped");
            return null;
        }
    }

    /** Whether the replica matches the page, or the majority. */
    private boolean isSame(ReplicaState state, SnapshotReader.Page page, @Nullable Endpoint givenBy, long generation) {
        Differences differences = Differences.between(state, page);
        compared.accept(page.entries().size());
        if (differences.keys().isEmpty()) {
            return true;
        }
        MajorityVote.Votes votes = majority.votes(state, differences.keys());
        switch (votes.verdict()) {
            case REPLICA -> memberDiffers(state, differences, votes.suspects());
            case SOURCE -> replicaDiffers(state, differences, givenBy, generation);
            case UNDECIDED -> undecided(state, differences, votes, generation);
        }
        return votes.verdict() == MajorityVote.Verdict.REPLICA;
    }

    private void replicaDiffers(
            ReplicaState state, Differences differences, @Nullable Endpoint givenBy, long generation) {
        LOG.atError()
                .addKeyValue("revision", state.revision())
                .addKeyValue("keys", differences.text())
                .log("replica differs from the source");
        // Counted before it is reported, so that the metric is never behind the report.
        differing.accept(Side.REPLICA, differences.keys().size());
        found = new Found(
                "replica differs from the source at revision " + state.revision() + " in " + differences.count(),
                generation);
        if (givenBy != null) {
            // The member may be corrupt too, so the rebuild must not read from it.
            source.reportFailure(givenBy, Duty.SNAPSHOT, "differs from the replica");
        }
        replica.rebuild("differs from the source");
    }

    private void undecided(ReplicaState state, Differences differences, MajorityVote.Votes votes, long generation) {
        Undecided before = open().orElse(null);
        int rounds = before == null ? 1 : before.rounds() + 1;
        String text = "replica and source differ at revision " + state.revision() + " in " + differences.count()
                + ", and no majority of " + votes.voters() + " voting members decides: " + votes.agreeing()
                + " agree with the replica, " + votes.differing() + " differ";
        LOG.atWarn()
                .addKeyValue("revision", state.revision())
                .addKeyValue("keys", differences.text())
                .addKeyValue("voters", votes.voters())
                .addKeyValue("agreeing", votes.agreeing())
                .addKeyValue("differing", votes.differing())
                .addKeyValue("rounds", rounds)
                .log("replica and source differ without a deciding majority; retrying in the next round");
        undecided = new Undecided(text, rounds, generation);
    }

    private void memberDiffers(ReplicaState state, Differences differences, List<Endpoint> suspects) {
        differing.accept(Side.SOURCE, differences.keys().size());
        damagedNow = true;
        damaged = "members " + suspects + " of the source differ from most voting members at revision "
                + state.revision() + " in " + differences.count() + "; replace these members";
        LOG.atError()
                .addKeyValue("members", suspects)
                .addKeyValue("revision", state.revision())
                .addKeyValue("keys", differences.text())
                .log("source members differ from most voting members and may still serve snapshots; replace them");
        for (Endpoint suspect : suspects) {
            source.reportFailure(suspect, Duty.SNAPSHOT, "differs from most voting members");
        }
    }

    private void pause(long millis) throws InterruptedException {
        boolean unused = closing.await(millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Differences between a state and a page of the source at the same revision.
     *
     * @param keys that are missing on one side or have different entries
     */
    record Differences(List<ByteString> keys) {

        private static final int MOST_SHOWN = 10;

        static Differences between(ReplicaState state, SnapshotReader.Page page) {
            List<ByteString> keys = new ArrayList<>();
            EntryCursor held = state.cursor(page.covered());
            Entry ours = next(held);
            for (KeyValue theirs : page.entries()) {
                while (ours != null && KeyRange.KEY_ORDER.compare(ours.key(), theirs.key()) < 0) {
                    keys.add(ours.key());
                    ours = next(held);
                }
                boolean onBothSides = ours != null && ours.key().equals(theirs.key());
                if (ours == null || !Entry.of(theirs).equals(ours)) {
                    keys.add(theirs.key());
                }
                if (onBothSides) {
                    ours = next(held);
                }
            }
            while (ours != null) {
                keys.add(ours.key());
                ours = next(held);
            }
            return new Differences(keys);
        }

        /** Returns the number of keys, for health reports: key names are restricted to permitted users. */
        String count() {
            return Counted.of(keys.size(), "key") + ", see the log";
        }

        /** Returns the first keys as text for the log, with unprintable bytes escaped. */
        String text() {
            return keys.stream()
                            .limit(MOST_SHOWN)
                            .map(key -> "'" + TextFormat.escapeBytes(key) + "'")
                            .collect(joining(", "))
                    + (keys.size() > MOST_SHOWN ? " and " + (keys.size() - MOST_SHOWN) + " more" : "");
        }

        private static @Nullable Entry next(EntryCursor cursor) {
            return cursor.hasNext() ? cursor.next() : null;
        }
    }

    /** How often and how fast the replica is compared with its source. */
    @Configured.Group("verify")
    public record VerifySettings(
            @Configured(
                    value = "Pause between full comparisons of the replica with the source.",
                    byDefault = "10m",
                    range = "100ms..30d")
            Duration interval,

            @Configured(
                    value = "Maximum rate of keys and values read for the comparison, from a learner where one exists.",
                    byDefault = "4MiB",
                    range = "64KiB..1GiB",
                    bytes = true)
            long bytesPerSecond) {

        public static final VerifySettings DEFAULTS = Binder.defaults(VerifySettings.class);
    }
}
