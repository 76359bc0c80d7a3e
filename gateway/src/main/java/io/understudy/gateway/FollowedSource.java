package io.understudy.gateway;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedSource;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.forward.ForwardMetrics;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.forward.HeldWrites;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.hub.CommitHistory.PreviousEntries;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.metrics.GatewayMetrics;
import io.understudy.gateway.primary.PrimaryChoice;
import io.understudy.gateway.primary.PrimaryChoice.Move;
import io.understudy.gateway.primary.PrimaryChoice.Seen;
import io.understudy.gateway.primary.PrimaryChoice.Side;
import io.understudy.gateway.primary.PrimaryChoice.Writes;
import io.understudy.gateway.primary.PrimaryRecord;
import io.understudy.gateway.primary.PrimaryRecord.Phase;
import io.understudy.gateway.primary.PrimaryRecords;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.read.ReadSource;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.gateway.replica.ReplicaWriter.SourceMove;
import io.understudy.health.HealthCheck;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.DaemonThreads;
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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The primary of a mirror between two clusters, which the gateway follows after a switchover.
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

    /** Maximum wait for both records at the start; after that the configured source is served. */
    private static final Duration START_WAIT = Duration.ofSeconds(5);
    /** Maximum wait for the end of a move. After that the cluster itself responds to writes. */
    private static final Duration CLOSING_WAIT = Duration.ofSeconds(10);

    /** Maximum wait for the new primary's record, which may lag; then a write decides. */
    private static final Duration OPENING_WAIT = Duration.ofMillis(200);

    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration HISTORY_POLL = Duration.ofMillis(20);
    /** Maximum wait for the record after a rejected write. */
    private static final Duration CHECK_WAIT = Duration.ofSeconds(2);

    private final SourceSettings.Etcd etcd;
    private final SourceSettings.Standby standby;
    private final GatewaySettings settings;
    private final Replica replica;
    private final GatewayMetrics metrics;
    private final MeterRegistry registry;
    private final ForwardMetrics forwarded;
    private final Map<Side, FeedMetrics> fed = new EnumMap<>(Side.class);
    private final Forwarding forwarding;
    private final Map<Side, PrimaryRecords> records = new EnumMap<>(Side.class);
    private final CountDownLatch started = new CountDownLatch(1);
    /** Sources that are not closed yet. */
    private final Set<EtcdSource> open = ConcurrentHashMap.newKeySet();

    /** Confined to {@link #thread}. */
    private final PrimaryChoice choice = new PrimaryChoice();
    /** The other cluster, connected while the primary is being closed. Of {@link #thread}. */
    private @Nullable EtcdSource prepared;
    /** When the primary moved last. Of {@link #thread}. */
    private long movedNanos;

    /** Of read-index rounds. */
    private final ScheduledExecutorService timers =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("primary-timers"));

    private final ExecutorService thread = Executors.newSingleThreadExecutor(DaemonThreads.named("primary"));

    private volatile @Nullable String moveProblem;
    private volatile Present present;
    /** The source of the replica's feed: that of {@link #present}, except during a move. */
    private volatile EtcdSource feeding;

    private volatile @Nullable Vertx vertx;
    private volatile @Nullable ReplicaWriter writer;

    /**
     * A source that is served. Another one follows with each record that is found.
     *
     * @param cluster its ID; null for the one that its members report
     * @param movedAt its revision at which it was the primary; 0 for the first primary
     * @param version grows with each record
     * @param open completes when writes need not wait
     */
    private record Present(
            Side side,
            EtcdSource source,
            ReadPermissions permissions,
            @Nullable ClusterId cluster,
            long movedAt,
            long version,
            CompletableFuture<Void> open) {

        Present with(ReadPermissions others, CompletableFuture<Void> gate) {
            return with(others, movedAt, gate);
        }

        Present with(ReadPermissions others, long moved, CompletableFuture<Void> gate) {
            return new Present(side, source, others, cluster, moved, version + 1, gate);
        }
    }

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
        for (Side side : Side.values()) {
            records.put(
                    side,
                    new PrimaryRecords(
                            side,
                            side == Side.SOURCE ? etcd.cluster() : standby.cluster(),
                            standby.mirror(),
                            settings.feed(),
                            registry,
                            seen -> thread.execute(() -> seen(seen))));
        }
        Side side = first();
        this.feeding = source(side);
        replica.log().formerly(choice.former());
        this.present = new Present(side, feeding, ReadPermissions.EVERYTHING, null, choice.movedAt(), 0, gate());
        this.forwarding = new HeldWrites(
                () -> {
                    Present now = present;
                    return new HeldWrites.Primary(now.source().forwarding(), now.open(), () -> hasMoved(now));
                },
                settings.forward(),
                forwarded);
    }

    private Side first() {
        records.values().forEach(PrimaryRecords::start);
        try {
            CompletableFuture.allOf(
                            records.values().stream().map(PrimaryRecords::first).toArray(CompletableFuture<?>[]::new))
                    .get(START_WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.atWarn()
                    .addKeyValue("mirror", standby.mirror())
                    .addKeyValue("cause", unread().orElse(""))
                    .log("starting without the primary record of both clusters");
        }
        CompletableFuture<Side> chosen = new CompletableFuture<>();
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

    private PrimaryRecords records(Side side) {
        return Objects.requireNonNull(records.get(side));
    }

    private EtcdSource source(Side side) {
        SourceSettings.Etcd chosen =
                side == Side.SOURCE ? etcd : new SourceSettings.Etcd(standby.cluster(), standby.forClients());
        FeedMetrics feeds = fed.computeIfAbsent(
                side, made -> new FeedMetrics(chosen.cluster().name(), registry));
        EtcdSource made = new EtcdSource(
                chosen, settings, replica, metrics, registry, forwarded, feeds, PrimaryRecord.key(standby.mirror()));
        open.add(made);
        return made;
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
            move(move, seen.record().scope());
            return;
        }
        Present now = present;
        CompletableFuture<Void> gate = gate();
        // The start may not have waited for this record.
        replica.log().formerly(choice.former());
        present = now.with(now.permissions(), choice.movedAt(), gate);
        follow(now.open(), gate);
        if (choice.writes() == Writes.CLOSING && prepared == null) {
            prepare(now.side().other());
        } else if (choice.writes() == Writes.OPEN && prepared != null) {
            // Undone. By the next move, that cluster may have been rebuilt with another ID.
            closeApart(prepared);
            prepared = null;
        }
    }

    private void prepare(Side side) {
        try {
            prepared = source(side);
        } catch (RuntimeException e) {
            LOG.atWarn().addKeyValue("side", side).setCause(e).log("cannot connect to the standby");
        }
    }

    /** Releases the calls that wait at the former gate when the next one opens. */
    private static void follow(CompletableFuture<Void> before, CompletableFuture<Void> next) {
        if (!before.isDone()) {
            var unused = next.whenComplete((opened, failed) -> before.complete(null));
        }
    }

    /** Switches reads and writes to the new primary. The replica follows after the former one's last commits. */
    private void move(Move to, PrimaryRecord.Scope scope) {
        Present before = present;
        movedNanos = System.nanoTime();
        Present moving;
        try {
            moving = opened(to, before.version() + 1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        EtcdSource next = moving.source();
        present = moving;
        long former = before.source().superseded(choice.former());
        follow(before.open(), moving.open());
        LOG.atInfo()
                .addKeyValue("mirror", standby.mirror())
                .addKeyValue("side", to.side())
                .addKeyValue("cluster_id", to.cluster())
                .addKeyValue("revision", to.revision())
                .addKeyValue("end_marker", to.endMarker())
                .log("primary moved; following it");
        SourceMove moved = new SourceMove(
                to.revision(), to.endMarker(), new Revision(former), PrimaryRecord::isReserved, scope::covers);
        var unused = Objects.requireNonNull(writer)
                .move(moved, () -> feeding = next)
                .thenRun(() -> closeApart(before.source()));
    }

    private void closeApart(EtcdSource source) {
        new Thread(() -> close(source), "former-primary").start();
    }

    private void close(EtcdSource source) {
        close(source, new ShutdownSteps(settings.closeTimeout()));
    }

    private void close(EtcdSource source, ShutdownSteps steps) {
        if (open.remove(source)) {
            source.close(steps);
        }
    }

    /** Whether to send a rejected write again: the primary has moved or may soon move. */
    private CompletableFuture<Boolean> hasMoved(Present sent) {
        return records(sent.side())
                .read(CHECK_WAIT)
                .handleAsync(
                        (seen, failed) -> present.version() != sent.version()
                                || !sent.open().isDone()
                                || isOpening(sent),
                        thread);
    }

    /** Whether the primary is not open yet; if so, writes wait again. */
    private boolean isOpening(Present sent) {
        boolean opening = choice.writes() == Writes.OPENING && System.nanoTime() - movedNanos < CLOSING_WAIT.toNanos();
        if (opening) {
            present = sent.with(sent.permissions(), gate());
        }
        return opening;
    }

    /**
     * A revision that the primary confirmed. The same call reads its record, so no other cluster was the primary then.
     *
     * @return fails if that is not certain
     */
    private CompletableFuture<ReadIndex> confirmed(Duration deadline) {
        Present now = present;
        long endNanos = System.nanoTime() + deadline.toNanos();
        return now.source().etcd().readIndexRound(deadline).thenCompose(index -> {
            Duration left = Duration.ofNanos(Math.max(1, endNanos - System.nanoTime()));
            return isPrimary(now.side(), records(now.side()).read(index), left).thenApply(primary -> {
                ClusterId followed = replica.cluster();
                boolean otherFollowed = followed != null && !followed.equals(index.clusterId());
                if (!primary || otherFollowed || present.source() != now.source()) {
                    throw new IllegalStateException("the primary of the mirror is moving");
                }
                return index;
            });
        });
    }

    /** Whether the side is the primary. While it is being closed, the other cluster's record decides. */
    private CompletableFuture<Boolean> isPrimary(Side side, @Nullable Seen seen, Duration deadline) {
        if (seen == null || !seen.isPrimary() || seen.record().phase() != Phase.CLOSING) {
            return CompletableFuture.completedFuture(seen == null || seen.isPrimary());
        }
        return records(side.other()).read(deadline).thenApply(there -> there == null || !there.isPrimary());
    }

    /** Tries until it succeeds: files of certificates may be missing for a moment. */
    private Present opened(Move to, long version) throws InterruptedException {
        while (true) {
            EtcdSource next = prepared;
            prepared = null;
            try {
                next = next == null ? source(to.side()) : next;
                ReadPermissions permissions = next.permissions(Objects.requireNonNull(vertx));
                next.start(Objects.requireNonNull(writer));
                moveProblem = null;
                return new Present(
                        to.side(),
                        next,
                        permissions,
                        to.cluster(),
                        to.revision().value(),
                        version,
                        gate());
            } catch (RuntimeException e) {
                if (moveProblem == null) {
                    LOG.atError().addKeyValue("side", to.side()).setCause(e).log("cannot follow the primary; retrying");
                }
                moveProblem = "cannot follow the primary: " + e.getMessage();
                if (next != null) {
                    close(next);
                }
                TimeUnit.MILLISECONDS.sleep(RETRY.toMillis());
            }
        }
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
                    EtcdSource source = now.source();
                    return new ReadSource.ReadableCluster(source.etcd(), now.movedAt(), source::answered);
                },
                this::confirmed,
                timers);
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
        present = now.with(now.source().permissions(loops), now.open());
        return new ReadPermissions() {
            @Override
            public Future<Void> check(Principal principal, Permission wanted) {
                Present now = present;
                Future<Void> checked = now.permissions().check(principal, wanted);
                return checked.succeeded()
                        ? checked
                        : checked.recover(why -> isNameless(why)
                                ? Future.fromCompletionStage(reopened(now), loops.getOrCreateContext())
                                        .compose(open -> open
                                                ? check(principal, wanted)
                                                : present.permissions().check(principal, wanted))
                                : Future.failedFuture(why));
            }

            @Override
            public boolean areRechecked() {
                return present.permissions().areRechecked();
            }
        };
    }

    private static boolean isNameless(Throwable why) {
        return why instanceof ApiException refusal && EtcdErrors.error(refusal.text()) == EtcdError.USER_EMPTY;
    }

    /**
     * Whether a cluster rejected calls without a name only because of a move. Completes once the primary is open. Soon
     * after a move, its cached authentication state may be outdated, and is read again.
     */
    private CompletableFuture<Boolean> reopened(Present refusing) {
        return hasMoved(refusing).thenCompose(moved -> {
            boolean isRecent = System.nanoTime() - movedNanos < CLOSING_WAIT.toNanos();
            CompletableFuture<Void> open = moved ? present.open() : CompletableFuture.completedFuture(null);
            return moved || isRecent
                    ? open.thenCompose(done -> present.source().refreshPermissions())
                            .thenApply(known -> moved)
                    : CompletableFuture.completedFuture(false);
        });
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
    public @Nullable ClusterId cluster() {
        Present now = present;
        ClusterId reported = now.source().cluster();
        return reported == null ? now.cluster() : reported;
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
        checks.add(new HealthCheck("primary", this::problem, this::unread));
        return checks;
    }

    /** Why the gateway has not followed the primary yet. */
    Optional<String> problem() {
        return Optional.ofNullable(moveProblem);
    }

    private Optional<String> unread() {
        return records.values().stream()
                .flatMap(each -> each.problem().stream())
                .reduce((one, other) -> one + "; " + other);
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
    public void close(ShutdownSteps steps) {
        records.values().forEach(each -> steps.run("primary record", each::close));
        steps.run("primary", () -> {
            var unused = thread.shutdownNow();
            var unusedToo = thread.awaitTermination(settings.closeTimeout().toMillis(), TimeUnit.MILLISECONDS);
        });
        List.copyOf(open).forEach(source -> close(source, steps));
        var unused = timers.shutdownNow();
    }

    /** History of one source up to the replica's revision: later commits may be another primary's. */
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
            if (step != null) {
                TimeUnit.MILLISECONDS.sleep(HISTORY_POLL.toMillis());
            } else if (reading != null) {
                step = reading.next(timeout);
            }
            // In this order: the log continues under other revisions only after the source was replaced.
            long head = replica.log().head();
            Present now = present;
            if (reading == null || now.source() != source) {
                throw CommitHistory.CompactedException.before(now.movedAt() + 1);
            }
            ClusterId followed = replica.cluster();
            if (followed == null || !followed.equals(source.cluster())) {
                head = CommitLog.NONE;
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
