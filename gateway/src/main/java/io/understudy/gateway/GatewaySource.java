package io.understudy.gateway;

import io.understudy.etcd.ClusterView;
import io.understudy.feed.FeedSource;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.hub.CommitHistory.PreviousEntries;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.read.ReadSource;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.health.HealthCheck;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The source of a gateway's replica, and of reads that the replica can't serve. Thread-safe. */
sealed interface GatewaySource permits EtcdSource, FollowedSource, KafkaSource {

    /** Its kind, in one word. */
    default String kind() {
        return topic() == null ? "etcd" : "kafka";
    }

    /** The topic; null for a cluster. */
    default @Nullable String topic() {
        return null;
    }

    /** The latest view of the cluster; null if there is no connection to one. */
    default @Nullable ClusterView view() {
        return null;
    }

    /** Returns the feeds of the replica. */
    FeedSource feeds();

    /** Returns the source of reads beyond the replica. */
    ReadSource reads();

    /** Whether it serves reads that the replica can't, or all reads without a replica. */
    default boolean answersReads() {
        return true;
    }

    /** Commits from before the replica's window. */
    CommitHistory history();

    /** Previous key-value pairs that the replica doesn't hold. */
    PreviousEntries previousEntries();

    /** Returns its read permissions, which load after {@link #start}. Called once. */
    ReadPermissions permissions(Vertx vertx);

    /** Returns the forwarding of calls that the gateway doesn't answer. */
    Forwarding forwarding();

    /** Returns the JSON dialect. */
    Supplier<JsonForm> jsonForm();

    /** Null until the source reports it. */
    @Nullable ClusterId cluster();

    /** Null while the source reports none. */
    default @Nullable MemberId leader() {
        ClusterView view = view();
        return view == null ? null : view.leaderId();
    }

    /** The last reported raft term; 0 before the first. */
    default long raftTerm() {
        return 0;
    }

    /** The greatest revision reported outside of the feed; 0 before the first. */
    default long revision() {
        return 0;
    }

    /** Its readiness checks. */
    List<HealthCheck> checks(ReadPath reads);

    /**
     * Starts background tasks other than the feed.
     *
     * @param writer of the replica
     */
    default void start(ReplicaWriter writer) {}

    /** The replica has a state for the first time, or again. */
    default void replicaReady() {}

    /** Closes it after its last use. Idempotent. */
    default void close(ShutdownSteps steps) {}
}
