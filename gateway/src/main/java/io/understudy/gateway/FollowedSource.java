package io.understudy.gateway;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.ClusterView;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedSource;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.forward.ForwardMetrics;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.forward.HeldWrites;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.hub.PreviousEntries;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.member.MembersShown;
import io.understudy.gateway.metrics.GatewayMetrics;
import io.understudy.gateway.primary.PrimaryChoice;
import io.understudy.gateway.primary.PrimaryChoice.Move;
import io.understudy.gateway.primary.PrimaryChoice.Seen;
import io.understudy.gateway.primary.PrimaryChoice.Side;
import io.understudy.gateway.primary.PrimaryChoice.Writes;
import io.understudy.gateway.primary.PrimaryRecord;
import io.understudy.gateway.primary.PrimaryRecords;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.read.ReadSource;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.gateway.replica.SourceMove;
import io.understudy.health.HealthCheck;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The primary of a mirror between two clusters, which a gateway follows when it moves.
 *
 * <p>Each operation takes the present source once, when it starts. A source never changes its cluster: after a move the
 * former one is closed, so calls under way there end as if their member was lost, and none reaches the other cluster.
 *
 * <p>Revisions up to the move name states of the former primary, so they count as compacted.
 *
 * <p>Invariant G4: after a move, a watcher continues without a missing or repeated event, or is cancelled as compacted.
 */
final class FollowedSource implements GatewaySource {

    private static final Logger LOG = LoggerFactory.getLogger(FollowedSource.class);

    /** For both records at the start: without them the configured source is served. */
    private static final Duration START_WAIT = Duration.ofSeconds(5);
    /** For the last commits of the former primary. */
    private static final Duration END_WAIT = Duration.ofSeconds(2);

    private static final Duration END_POLL = Duration.ofMillis(20);
    /** After that the cluster itself answers writes. */
    private static final Duration CLOSING_WAIT = Duration.ofSeconds(10);

    private static final Duration OPENING_WAIT = Duration.ofSeconds(1);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final SourceSettings.Etcd etcd;
    private final SourceSettings.Standby standby;
    private final GatewaySettings settings;
    private final Replica replica;
    private final GatewayMetrics metrics;
    private final MeterRegistry registry;
    private final ForwardMetrics forwarded;
    private final Map<Side, FeedMetrics> fed = new EnumMap<>(Side.class);
    private final Forwarding forwarding;
    private final List<PrimaryRecords> records = new ArrayList<>();
    private final CountDownLatch started = new CountDownLatch(1);

    /** Of {@link #thread}. */
    private final PrimaryChoice choice = new PrimaryChoice();

    private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
        Thread made = new Thread(work, "primary");
        made.setDaemon(true);
        return made;
    });

    private volatile Present present;
    /** The source of the replica's feed: that of {@link #present}, except during a move. */
    private volatile EtcdSource feeding;

    private volatile @Nullable Vertx vertx;
    private volatile @Nullable ReplicaWriter writer;

    /**
     * A source that is served.
     *
     * @param cluster its ID; null for the one that its members report
     * @param movedAt its revision at which it became the primary; 0 for one that was at the start
     * @param open completes when writes need not wait
     */
    private record Present(
            EtcdSource source,
            ReadPermissions permissions,
            @Nullable ClusterId cluster,
            long movedAt,
            CompletableFuture<Void> open) {}

    /**
     * Waits for the records of both clusters, for a while.
     *
     * @throws RuntimeException if files that the settings name can't be used
     */
    FollowedSource(
            SourceSettings.Etcd etcd,
            SourceSettings.Standby standby,
            GatewaySettings settings,
            Replica replica,
            GatewayMetrics metrics,
            MeterRegistry registry) {
        this.etcd = etcd;
        this.standby = standby;
        this.settings = settings;
        this.replica = replica;
        this.metrics = metrics;
        this.registry = registry;
        this.forwarded = new ForwardMetrics(registry);
        Side side = first();
        this.feeding = source(side);
        this.present = new Present(feeding, ReadPermissions.EVERYTHING, null, 0, gate());
        this.forwarding = new HeldWrites(
                () -> {
                    Present now = present;
                    return new HeldWrites.Target(now.source().forwarding(), now.open());
                },
                settings.forward());
    }

    private Side first() {
        List<CompletableFuture<Void>> read = new ArrayList<>();
        for (Side side : Side.values()) {
            CompletableFuture<Void> first = new CompletableFuture<>();
            read.add(first);
            records.add(new PrimaryRecords(
                    side,
                    side == Side.SOURCE ? etcd.cluster() : standby.cluster(),
                    standby.mirror(),
                    settings.feed(),
                    registry,
                    seen -> thread.execute(() -> {
                        seen.ifPresent(this::seen);
                        first.complete(null);
                    })));
        }
        records.forEach(PrimaryRecords::start);
        CompletableFuture<Side> chosen = new CompletableFuture<>();
        try {
            CompletableFuture.allOf(read.toArray(new CompletableFuture<?>[0]))
                    .get(START_WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.atWarn()
                    .addKeyValue("mirror", standby.mirror())
                    .addKeyValue("cause", unread().orElse(""))
                    .log("starting without the primary record of both clusters");
        }
        // What is read next waits for the start.
        thread.execute(() -> {
            chosen.complete(choice.side());
            try {
                started.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return chosen.join();
    }

    private EtcdSource source(Side side) {
        SourceSettings.Etcd chosen =
                side == Side.SOURCE ? etcd : new SourceSettings.Etcd(standby.cluster(), standby.forClients());
        FeedMetrics feeds = fed.computeIfAbsent(
                side, made -> new FeedMetrics(chosen.cluster().name(), registry));
        return new EtcdSource(chosen, settings, replica, metrics, registry, forwarded, feeds);
    }

    private CompletableFuture<Void> gate() {
        Writes writes = choice.writes();
        CompletableFuture<Void> gate = new CompletableFuture<>();
        return switch (writes) {
            case OPEN -> CompletableFuture.completedFuture(null);
            case CLOSING -> gate.completeOnTimeout(null, CLOSING_WAIT.toMillis(), TimeUnit.MILLISECONDS);
            case OPENING -> gate.completeOnTimeout(null, OPENING_WAIT.toMillis(), TimeUnit.MILLISECONDS);
        };
    }

    /** On {@link #thread}. */
    private void seen(Seen seen) {
        Move move = choice.seen(seen);
        if (started.getCount() > 0) {
            return;
        }
        if (move != null) {
            move(move);
            return;
        }
        Present now = present;
        if (choice.writes() == Writes.OPEN) {
            now.open().complete(null);
        } else if (now.open().isDone()) {
            present = new Present(now.source(), now.permissions(), now.cluster(), now.movedAt(), gate());
        }
    }

    private void move(Move to) {
        Present before = present;
        Vertx loops = Objects.requireNonNull(vertx);
        ReplicaWriter writing = Objects.requireNonNull(writer);
        try {
            EtcdSource next = opened(to.side());
            present = new Present(
                    next, next.permissions(loops), to.cluster(), to.revision().value(), gate());
            next.start(writing);
            LOG.atInfo()
                    .addKeyValue("mirror", standby.mirror())
                    .addKeyValue("side", to.side())
                    .addKeyValue("cluster_id", to.cluster())
                    .addKeyValue("revision", to.revision())
                    .addKeyValue("end_marker", to.endMarker())
                    .log("primary moved; following it");
            before.open().complete(null);
            awaitEnd(to.endMarker(), writing);
            SourceMove moved = new SourceMove(
                    to.revision(), to.endMarker(), new Revision(before.source().revision()), PrimaryRecord::isReserved);
            writing.move(moved, () -> feeding = next).get(CLOSING_WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.atWarn().addKeyValue("cause", e).log("feed of the former primary did not end in time");
        } finally {
            before.source().close(new Closing(settings.closeTimeout()));
        }
    }

    /** Tries until it succeeds: files of certificates may be missing for a moment. */
    private EtcdSource opened(Side side) throws InterruptedException {
        while (true) {
            try {
                return source(side);
            } catch (RuntimeException e) {
                LOG.atError().addKeyValue("side", side).setCause(e).log("cannot connect to the new primary; retrying");
                TimeUnit.MILLISECONDS.sleep(RETRY.toMillis());
            }
        }
    }

    /** The former primary has commits up to there, and the feed only has to deliver them. */
    private void awaitEnd(Revision end, ReplicaWriter writing) throws InterruptedException {
        long giveUpAt = System.nanoTime() + END_WAIT.toNanos();
        while (!end.equals(Revision.ZERO)
                && replica.log().head() < end.value()
                && writing.failed() == null
                && System.nanoTime() - giveUpAt < 0) {
            writing.requestProgress();
            TimeUnit.MILLISECONDS.sleep(END_POLL.toMillis());
        }
    }

    @Override
    public String kind() {
        return present.source().kind();
    }

    @Override
    public @Nullable String topic() {
        return null;
    }

    @Override
    public ClusterView view() {
        return present.source().view();
    }

    @Override
    public FeedSource feeds() {
        return (range, kind, start) -> feeding.feeds().open(range, kind, start);
    }

    @Override
    public ReadSource reads() {
        return new ReadSource.Cluster(
                () -> {
                    Present now = present;
                    return new ReadSource.ReadableCluster(now.source().etcd(), now.movedAt());
                },
                deadline -> present.source().etcd().readIndexRound(deadline),
                records.get(0).timers());
    }

    @Override
    public boolean answersReads() {
        return true;
    }

    @Override
    public CommitHistory history() {
        return (from, previous) -> {
            Present now = present;
            return new History(
                    now.source(), from > now.movedAt() ? now.source().history().open(from, previous) : null);
        };
    }

    @Override
    public PreviousEntries previousEntries() {
        return commit -> {
            Present now = present;
            if (commit.revision().value() > now.movedAt()) {
                return now.source().previousEntries().learn(commit);
            }
            // As for what is compacted.
            commit.learnPrevious(Map.of());
            return CompletableFuture.completedFuture(null);
        };
    }

    @Override
    public ReadPermissions permissions(Vertx loops) {
        vertx = loops;
        Present now = present;
        present = new Present(now.source(), now.source().permissions(loops), now.cluster(), now.movedAt(), now.open());
        return new ReadPermissions() {
            @Override
            public Future<Void> check(Principal principal, Permission wanted) {
                return present.permissions().check(principal, wanted);
            }

            @Override
            public boolean areRechecked() {
                return present.permissions().areRechecked();
            }
        };
    }

    @Override
    public Forwarding forwarding() {
        return forwarding;
    }

    @Override
    public Supplier<JsonForm> jsonForm() {
        return () -> present.source().jsonForm().get();
    }

    @Override
    public MembersShown membersShown() {
        return settings.members().shown();
    }

    @Override
    public @Nullable ClusterId cluster() {
        Present now = present;
        ClusterId reported = now.source().cluster();
        return reported == null ? now.cluster() : reported;
    }

    @Override
    public @Nullable MemberId leader() {
        return present.source().leader();
    }

    @Override
    public long raftTerm() {
        return present.source().raftTerm();
    }

    @Override
    public long revision() {
        return present.source().revision();
    }

    @Override
    public List<HealthCheck> checks(ReadPath reads) {
        List<HealthCheck> checks = new ArrayList<>();
        List<HealthCheck> first = present.source().checks(reads);
        for (int i = 0; i < first.size(); i++) {
            int index = i;
            checks.add(new HealthCheck(
                    first.get(i).name(),
                    () -> present.source().checks(reads).get(index).problem().get(),
                    () -> present.source().checks(reads).get(index).remark().get()));
        }
        checks.add(new HealthCheck("primary", Optional::empty, this::unread));
        return checks;
    }

    private Optional<String> unread() {
        return records.stream().flatMap(each -> each.problem().stream()).reduce((one, other) -> one + "; " + other);
    }

    @Override
    public void start(ReplicaWriter replicaWriter) {
        writer = replicaWriter;
        present.source().start(replicaWriter);
        started.countDown();
    }

    @Override
    public void replicaReady() {
        present.source().replicaReady();
    }

    @Override
    public void close(Closing steps) {
        steps.run("primary", () -> {
            var unused = thread.shutdownNow();
            var unusedToo = thread.awaitTermination(settings.closeTimeout().toMillis(), TimeUnit.MILLISECONDS);
        });
        records.forEach(each -> steps.run("primary record", each::close));
        present.source().close(steps);
    }

    /** History of one source, up to the replica's revision: what comes after may be of the other primary. */
    private final class History implements CommitHistory.Reading {

        private final EtcdSource source;
        private final CommitHistory.@Nullable Reading reading;
        private CommitHistory.@Nullable Step held;

        /** @param reading null for revisions of the former primary */
        History(EtcdSource source, CommitHistory.@Nullable Reading reading) {
            this.source = source;
            this.reading = reading;
        }

        @Override
        public CommitHistory.@Nullable Step next(Duration timeout)
                throws CommitHistory.CompactedException, InterruptedException {
            CommitHistory.Step step = held;
            if (step == null && reading != null) {
                step = reading.next(timeout);
            }
            // In this order: the log continues under other revisions only after the source was replaced.
            long head = replica.log().head();
            Present now = present;
            if (reading == null || now.source() != source) {
                throw new CommitHistory.CompactedException(now.movedAt() + 1);
            }
            held = step instanceof CommitHistory.Step.Committed committed
                            && committed.commit().revision().value() > head
                    ? step
                    : null;
            return held != null
                    ? null
                    : step instanceof CommitHistory.Step.Complete complete
                            ? new CommitHistory.Step.Complete(Math.min(complete.revision(), head))
                            : step;
        }

        @Override
        public void close() {
            if (reading != null) {
                reading.close();
            }
        }
    }
}
