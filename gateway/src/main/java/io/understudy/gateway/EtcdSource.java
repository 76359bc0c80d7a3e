package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.Health;
import io.understudy.etcd.ReadIndex;
import io.understudy.etcd.Role;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedSource;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.forward.ForwardMetrics;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.forward.SourceForwarding;
import io.understudy.gateway.history.Compactions;
import io.understudy.gateway.history.SourceEntries;
import io.understudy.gateway.history.SourceHistory;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.hub.CommitHistory.PreviousEntries;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.json.SourceForm;
import io.understudy.gateway.metrics.GatewayMetrics;
import io.understudy.gateway.permission.EnforcedPermissions;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.read.ReadSource;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.gateway.verify.Verifier;
import io.understudy.health.HealthCheck;
import io.understudy.tls.TlsFileException;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An etcd cluster or a gateway as source: serves requests beyond the replica, verifies it.
 *
 * <p>Invariant V9: a gateway behind a gateway costs its parent one watcher, inherits its staleness, and keeps its
 * watches through restarts and leader loss there.
 */
final class EtcdSource implements GatewaySource, SourceForwarding.Executed {

    private final GatewaySettings settings;
    private final Replica replica;
    private final EtcdCluster cluster;
    private final NewestReported facts;
    private final EtcdFeedSource feeds;
    private final Compactions compactions;
    private final Verifier verifier;
    private final SourceForm jsonForm;
    private final SourceEntries previousEntries;
    private final SourceForwarding forwarding;
    private final MeterRegistry registry;
    private @Nullable EnforcedPermissions permissions;

    /**
     * Starts to connect.
     *
     * @param replica that follows it
     * @param forwarded metrics of forwarded calls
     * @param fed metrics of its feeds
     * @param confirmed a key that each read index reads; null for none
     * @throws RuntimeException if files that its settings name can't be used
     */
    EtcdSource(
            SourceSettings.Etcd etcd,
            GatewaySettings settings,
            Replica replica,
            GatewayMetrics metrics,
            MeterRegistry registry,
            ForwardMetrics forwarded,
            FeedMetrics fed,
            @Nullable ByteString confirmed) {
        EtcdSettings source = etcd.cluster();
        TlsFiles files = etcd.clientFiles();
        this.settings = settings;
        this.replica = replica;
        this.registry = registry;
        // First, since it reads files that may not be there.
        this.cluster = TlsFileException.at(
                source.name(),
                () -> confirmed == null
                        ? EtcdCluster.connectForOthers(source, settings.range(), files, registry)
                        : EtcdCluster.connectReading(source, settings.range(), confirmed, files, registry));
        this.facts = new NewestReported(cluster::view);
        this.feeds = new EtcdFeedSource(cluster, settings.feed(), fed);
        this.compactions = new Compactions(replica, feeds, this::isFollowed);
        this.verifier = new Verifier(
                replica,
                cluster,
                settings.feed(),
                settings.verify(),
                metrics::verified,
                (side, keys) -> metrics.differed(side.name().toLowerCase(Locale.ROOT), keys));
        this.jsonForm = new SourceForm(cluster);
        this.previousEntries = new SourceEntries(cluster, settings.feed());
        this.forwarding = new SourceForwarding(
                cluster,
                settings.forward(),
                forwarded,
                this,
                () -> permissions != null && permissions.isEnforced(),
                files != null && files.certificate() != null);
    }

    /** Reads now whether authentication is enabled. */
    CompletableFuture<Void> refreshPermissions() {
        return permissions == null ? CompletableFuture.completedFuture(null) : permissions.refresh();
    }

    /**
     * Another source has taken the place of this one.
     *
     * @param least lower bound of the result
     * @return the greatest revision that clients may know: answers beyond it are no longer passed on
     */
    long superseded(long least) {
        forwarding.superseded();
        return facts.end(least);
    }

    /** Records the revision of an answer. False if its client must not get it, after {@link #superseded}. */
    @Override
    public boolean answered(long revision) {
        return facts.answered(revision);
    }

    @Override
    public void compacted(long revision) {
        ClusterId own = cluster();
        if (own != null) {
            replica.compacted(own, new Revision(revision));
        }
    }

    @Override
    public void authentication(boolean enabled) {
        if (permissions != null) {
            permissions.switched(enabled);
        }
    }

    /** Closed with this. */
    EtcdCluster etcd() {
        return cluster;
    }

    @Override
    public ClusterView view() {
        return cluster.view();
    }

    @Override
    public FeedSource feeds() {
        return feeds;
    }

    @Override
    public ReadSource reads() {
        return new ReadSource.Cluster(cluster, this::readIndex);
    }

    /** Always sends a request, since only that shows whether authentication was disabled. */
    private CompletableFuture<ReadIndex> readIndex(Duration deadline) {
        return cluster.readIndexRound(deadline)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                        isNameless(failure)
                                ? new ApiException(
                                        Status.Code.UNAVAILABLE,
                                        "understudy: the source has authentication enabled; set source.user of this"
                                                + " gateway")
                                : failure));
    }

    private boolean isNameless(Throwable failure) {
        return cluster.settings().login() == null
                && permissions != null
                && permissions.isEnforced()
                && EtcdErrors.classify(Duty.READ_INDEX, failure).error() == EtcdError.USER_EMPTY;
    }

    @Override
    public CommitHistory history() {
        return new SourceHistory(feeds, settings.range());
    }

    @Override
    public PreviousEntries previousEntries() {
        return previousEntries;
    }

    @Override
    public ReadPermissions permissions(Vertx vertx) {
        EnforcedPermissions enforced = EnforcedPermissions.of(vertx, cluster, settings.permissions(), registry);
        permissions = enforced;
        return enforced;
    }

    @Override
    public Forwarding forwarding() {
        return forwarding;
    }

    @Override
    public Supplier<JsonForm> jsonForm() {
        return jsonForm;
    }

    /** Whether the replica follows this cluster, and no longer a former primary with other revisions. */
    private boolean isFollowed() {
        ClusterId followed = replica.cluster();
        return followed != null && followed.equals(cluster());
    }

    @Override
    public @Nullable ClusterId cluster() {
        return cluster.view().clusterId();
    }

    @Override
    public long raftTerm() {
        return facts.raftTerm();
    }

    @Override
    public long revision() {
        return facts.revision();
    }

    @Override
    public List<HealthCheck> checks(ReadPath reads) {
        return List.of(
                new HealthCheck("verification", verifier::problem, verifier::remark),
                new HealthCheck("read_index", reads::confirmationProblem),
                new HealthCheck("permissions", () -> permissions == null ? Optional.empty() : permissions.problem()),
                new HealthCheck("source", () -> Optional.ofNullable(cluster.unreachable()), this::missingRoles));
    }

    @Override
    public void start(ReplicaWriter writer) {
        verifier.start();
        compactions.start();
        if (permissions != null) {
            permissions.start();
        }
    }

    @Override
    public void replicaReady() {
        jsonForm.probe();
    }

    @Override
    public void close(ShutdownSteps steps) {
        if (permissions != null) {
            steps.run("permissions", permissions::close);
        }
        steps.run("previous entries", previousEntries::close);
        steps.run("compactions", compactions::close);
        steps.run("verifier", () -> verifier.close(settings.closeTimeout()));
        steps.run("JSON form", jsonForm::close);
        steps.run("source", cluster::close);
    }

    /** The unreachable role; members of other roles serve in its place. */
    private Optional<String> missingRoles() {
        if (replica.state() == null) {
            return Optional.empty();
        }
        boolean gateway = answers(Role.GATEWAY);
        if (!gateway && !answers(Role.VOTER)) {
            return Optional.of("no voting member reachable; only serializable reads are served");
        }
        return gateway || answers(Role.LEARNER)
                ? Optional.empty()
                : Optional.of("no learner reachable; voting members serve snapshots and read indexes");
    }

    private boolean answers(Role role) {
        return cluster.view().members(role).stream()
                .anyMatch(member -> member.health() == Health.HEALTHY || member.health() == Health.LEADERLESS);
    }
}
