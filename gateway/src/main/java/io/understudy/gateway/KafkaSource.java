package io.understudy.gateway;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.feed.FeedSource;
import io.understudy.feed.kafka.KafkaFeedSource;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.hub.CommitHistory.PreviousEntries;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.read.ReadSource;
import io.understudy.gateway.replica.Replica;
import io.understudy.health.HealthCheck;
import io.understudy.vocabulary.ClusterId;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A mirror's topic in Kafka: it feeds the replica, and its heartbeats carry the freshness. Requests beyond the replica
 * are rejected, or answered as compacted.
 *
 * <p>Invariant K2: a Kafka-fed gateway rejects what needs a voter with a non-retryable error, and cancels watches
 * before its window with the compact revision.
 *
 * <p>Invariant K3: a Kafka-fed gateway answers as an etcd compacted at its window, and matches the source again after
 * broker failures and gaps.
 */
final class KafkaSource implements GatewaySource {

    private final SourceSettings.Kafka settings;
    private final Replica replica;
    private final KafkaFeedSource feeds;

    /**
     * Connects to nothing yet.
     *
     * @param replica that follows it
     */
    KafkaSource(SourceSettings.Kafka settings, Replica replica, MeterRegistry registry) {
        this.settings = settings;
        this.replica = replica;
        this.feeds = new KafkaFeedSource(SourceConfiguration.NAME, settings.kafka(), settings.feed(), registry);
    }

    @Override
    public String topic() {
        return settings.feed().topic();
    }

    @Override
    public FeedSource feeds() {
        return feeds;
    }

    @Override
    public ReadSource reads() {
        return new ReadSource.Heartbeats(settings.maxClockSkew(), InstantSource.system());
    }

    @Override
    public boolean answersReads() {
        return false;
    }

    /** Commits that the replica's log has dropped are gone. */
    @Override
    public CommitHistory history() {
        return (from, previous) -> new CommitHistory.Reading() {
            @Override
            public CommitHistory.Step next(Duration timeout) throws CommitHistory.CompactedException {
                throw CommitHistory.CompactedException.before(replica.log().from() + 1);
            }

            @Override
            public void close() {}
        };
    }

    /** No entries, as in etcd after a compaction. */
    @Override
    public PreviousEntries previousEntries() {
        return commit -> {
            commit.learnPrevious(Map.of());
            return CompletableFuture.completedFuture(null);
        };
    }

    /** The topic has no permissions: every client that may connect may read. */
    @Override
    public ReadPermissions permissions(Vertx vertx) {
        return ReadPermissions.EVERYTHING;
    }

    @Override
    public Forwarding forwarding() {
        return Forwarding.refusing(ApiException.noVoters());
    }

    @Override
    public Supplier<JsonForm> jsonForm() {
        return () -> JsonForm.GRPC_GATEWAY_1;
    }

    @Override
    public @Nullable ClusterId cluster() {
        return replica.cluster();
    }

    @Override
    public List<HealthCheck> checks(ReadPath reads) {
        return List.of(new HealthCheck("heartbeats", reads::confirmationProblem));
    }
}
