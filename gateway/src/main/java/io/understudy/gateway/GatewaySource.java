package io.understudy.gateway;

import io.understudy.etcd.ClusterView;
import io.understudy.feed.FeedSource;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.hub.PreviousEntries;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.member.MembersShown;
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

/** Where a gateway's replica comes from, and who is asked for what the replica doesn't know. For any thread. */
sealed interface GatewaySource permits EtcdSource, FollowedSource, KafkaSource {

    /** Of which kind it is, in a word. */
    String kind();

    /** The topic; null for a cluster, whose members are known by their own names. */
    @Nullable String topic();

    /** What is known of the cluster; null if it can't be asked. */
    @Nullable ClusterView view();

    /** What the replica follows. */
    FeedSource feeds();

    /** What reads beyond the replica come to. */
    ReadSource reads();

    /** Whether it is asked for what the replica doesn't hold, or for everything while there is none. */
    boolean answersReads();

    /** Commits from before the replica's window. */
    CommitHistory history();

    /** How keys stood before a commit, where the replica doesn't tell. */
    PreviousEntries previousEntries();

    /** Who may read what of it; begins to find out with {@link #start}. Called once. */
    ReadPermissions permissions(Vertx vertx);

    /** What becomes of calls that the gateway doesn't answer. */
    Forwarding forwarding();

    /** How JSON is answered. */
    Supplier<JsonForm> jsonForm();

    /** Whom clients see as members. */
    MembersShown membersShown();

    /** Null while it hasn't told. */
    @Nullable ClusterId cluster();

    /** Null while there is none, as far as it has told. */
    @Nullable MemberId leader();

    /** The last raft term it has told, 0 before the first. */
    long raftTerm();

    /** The greatest revision it has told outside of the feed, 0 before the first. */
    long revision();

    /** What of it readiness depends on. */
    List<HealthCheck> checks(ReadPath reads);

    /**
     * Begins what goes on beside the feed.
     *
     * @param writer of the replica
     */
    void start(ReplicaWriter writer);

    /** The replica has a state, the first one or after it had none. */
    void replicaReady();

    /** Nothing asks it any more. Idempotent. */
    void close(Closing steps);
}
