package io.understudy.cluster.membership;

import com.google.protobuf.ByteString;
import com.google.protobuf.Empty;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DefragmentRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MemberAddRequest;
import io.etcd.jetcd.api.MemberPromoteRequest;
import io.etcd.jetcd.api.MemberRemoveRequest;
import io.etcd.jetcd.api.MemberUpdateRequest;
import io.etcd.jetcd.api.MoveLeaderRequest;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.etcd.Alarm;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes a cluster by etcd's requests to members chosen by the last observation. Any thread.
 *
 * <p>{@code understudy.cluster.requests} (timer; {@code request}, {@code outcome}: done, refused or unknown): requests
 * that change the cluster.
 *
 * <p>Invariant DP28: a change that etcd rejects is reported in etcd's words, distinct from a change of unknown outcome.
 */
public final class EtcdMembership implements Membership {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdMembership.class);

    /** A list of alarms: the only read that etcd appends to the Raft log. Every alarm permits it. */
    public static final AlarmRequest ENTRY = AlarmRequest.getDefaultInstance();

    /** Time of waiting for a member before {@link #ENTRY} is sent, again and again. */
    public static final Duration IDLE = Duration.ofSeconds(3);

    /** Maximum age of the caller's observation; another one would wait for members that hang. */
    private static final Duration RECENT = Duration.ofSeconds(2);

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Longer than etcd's own of 7 s, so that its error is reported. */
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    /** Deadline of maintenance: a member responds after rewriting or reading its whole database. */
    private static final Duration MAINTENANCE = Duration.ofMinutes(10);

    /** {@code AlarmType.CORRUPT}, which jetcd's messages lack. */
    private static final int CORRUPT = 2;

    /** {@code DowngradeRequest} and its response, which jetcd lacks, as unknown fields. */
    private static final MethodDescriptor<Empty, Empty> DOWNGRADE = MethodDescriptor.<Empty, Empty>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(MaintenanceGrpc.SERVICE_NAME, "Downgrade"))
            .setRequestMarshaller(ProtoUtils.marshaller(Empty.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(Empty.getDefaultInstance()))
            .build();

    private static final int DOWNGRADE_ACTION = 1;
    private static final int DOWNGRADE_VERSION = 2;
    private static final int DOWNGRADE_ENABLE = 1;
    private static final int DOWNGRADE_CANCEL = 2;

    private final EtcdObserver observer;
    private final EtcdConnections connections;
    private final MeterRegistry meters;

    /** @param connections closed by the caller */
    public EtcdMembership(EtcdObserver observer, EtcdConnections connections, MeterRegistry meters) {
        this.observer = observer;
        this.connections = connections;
        this.meters = meters;
    }

    @Override
    public MemberId addLearner(List<URI> peerUrls) throws RefusedException, OutcomeUnknownException {
        MemberAddRequest request = MemberAddRequest.newBuilder()
                .addAllPeerURLs(texts(peerUrls))
                .setIsLearner(true)
                .build();
        return new MemberId(send("add", voterOtherThan(null), ClusterGrpc.getMemberAddMethod(), request)
                .getMember()
                .getID());
    }

    @Override
    public void promote(MemberId learner) throws RefusedException, OutcomeUnknownException {
        MemberPromoteRequest request =
                MemberPromoteRequest.newBuilder().setID(learner.value()).build();
        send("promote", ClusterFacts::leader, ClusterGrpc.getMemberPromoteMethod(), request);
    }

    @Override
    public void remove(MemberId member) throws RefusedException, OutcomeUnknownException {
        MemberRemoveRequest request =
                MemberRemoveRequest.newBuilder().setID(member.value()).build();
        send("remove", voterOtherThan(member), ClusterGrpc.getMemberRemoveMethod(), request);
    }

    @Override
    public void updatePeerUrls(MemberId member, List<URI> peerUrls) throws RefusedException, OutcomeUnknownException {
        MemberUpdateRequest request = MemberUpdateRequest.newBuilder()
                .setID(member.value())
                .addAllPeerURLs(texts(peerUrls))
                .build();
        send("update", voterOtherThan(null), ClusterGrpc.getMemberUpdateMethod(), request);
    }

    @Override
    public void moveLeader(MemberId from, MemberId to) throws RefusedException, OutcomeUnknownException {
        MoveLeaderRequest request =
                MoveLeaderRequest.newBuilder().setTargetID(to.value()).build();
        send("move-leader", facts -> facts.member(from), MaintenanceGrpc.getMoveLeaderMethod(), request);
    }

    @Override
    public void compact(Revision revision) throws RefusedException, OutcomeUnknownException {
        CompactionRequest request = CompactionRequest.newBuilder()
                .setRevision(revision.value())
                .setPhysical(true)
                .build();
        try {
            send("compact", ClusterFacts::leader, KVGrpc.getCompactMethod(), request, MAINTENANCE);
        } catch (OutcomeUnknownException e) {
            if (EtcdErrors.classify(Duty.WRITE, e).error() != EtcdError.COMPACTED) {
                throw e;
            }
        }
    }

    @Override
    public void defragment(MemberId member) throws RefusedException, OutcomeUnknownException {
        send(
                "defragment",
                facts -> facts.member(member),
                MaintenanceGrpc.getDefragmentMethod(),
                DefragmentRequest.getDefaultInstance(),
                MAINTENANCE);
    }

    @Override
    public void disarm(Alarm alarm) throws RefusedException, OutcomeUnknownException {
        AlarmRequest request = AlarmRequest.newBuilder()
                .setAction(AlarmRequest.AlarmAction.DEACTIVATE)
                .setMemberID(alarm.member().value())
                .setAlarmValue(alarm.kind().equals("CORRUPT") ? CORRUPT : AlarmType.NOSPACE_VALUE)
                .build();
        send("disarm", voterOtherThan(null), MaintenanceGrpc.getAlarmMethod(), request);
    }

    @Override
    public void downgrade(String version) throws RefusedException, OutcomeUnknownException {
        UnknownFieldSet.Builder request = UnknownFieldSet.newBuilder()
                .mergeVarintField(DOWNGRADE_ACTION, version.isEmpty() ? DOWNGRADE_CANCEL : DOWNGRADE_ENABLE);
        if (!version.isEmpty()) {
            request.mergeField(
                    DOWNGRADE_VERSION,
                    UnknownFieldSet.Field.newBuilder()
                            .addLengthDelimited(ByteString.copyFromUtf8(version))
                            .build());
        }
        send(
                "downgrade",
                voterOtherThan(null),
                DOWNGRADE,
                Empty.newBuilder().setUnknownFields(request.build()).build());
    }

    @Override
    public void appendEntry() throws RefusedException, OutcomeUnknownException {
        send("append-entry", ClusterFacts::leader, MaintenanceGrpc.getAlarmMethod(), ENTRY, PATIENCE);
    }

    private <Q, A> A send(
            String name,
            Function<ClusterFacts, Optional<MemberFacts>> receiver,
            MethodDescriptor<Q, A> method,
            Q request)
            throws RefusedException, OutcomeUnknownException {
        return send(name, receiver, method, request, DEADLINE);
    }

    private <Q, A> A send(
            String name,
            Function<ClusterFacts, Optional<MemberFacts>> receiver,
            MethodDescriptor<Q, A> method,
            Q request,
            Duration deadline)
            throws RefusedException, OutcomeUnknownException {
        Endpoint endpoint = endpoint(name, receiver);
        Timer.Sample began = Timer.start(meters);
        String outcome = "unknown";
        try {
            CompletableFuture<A> call = connections.call(endpoint, method, request, deadline);
            // Not interrupted: what took effect is undone.
            A answer = deadline.equals(DEADLINE) ? call.join() : call.get();
            outcome = "done";
            return answer;
        } catch (ExecutionException | CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            Status status = Status.fromThrowable(cause);
            Optional<EtcdRefusal> refusal = EtcdRefusal.of(String.valueOf(status.getDescription()));
            if (refusal.isPresent() && isOfAll(refusal.get())) {
                outcome = "refused";
                throw refusal.get().exception();
            }
            throw new OutcomeUnknownException(
                    "outcome of '" + name + "' sent to " + endpoint + " unknown: " + EtcdErrors.text(cause), cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new OutcomeUnknownException(
                    "outcome of '" + name + "' sent to " + endpoint + " unknown: interrupted", e);
        } finally {
            began.stop(ClusterMeter.REQUESTS
                    .timer()
                    .tag("request", name)
                    .tag("outcome", outcome)
                    .register(meters));
            LOG.atInfo()
                    .addKeyValue("request", name)
                    .addKeyValue("endpoint", endpoint)
                    .addKeyValue("outcome", outcome)
                    .log("membership request completed");
        }
    }

    /** Whether all members reject the request. Since 3.6 each checks its own limit of learners when it applies it. */
    private boolean isOfAll(EtcdRefusal refusal) {
        if (refusal != EtcdRefusal.TOO_MANY_LEARNERS) {
            return true;
        }
        try {
            return observer.recent(RECENT, PATIENCE).members().stream()
                    .flatMap(member -> member.answer().stream())
                    .noneMatch(answer -> answer.version().maxLearnersConfigurable());
        } catch (UnobservableException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Endpoint endpoint(String name, Function<ClusterFacts, Optional<MemberFacts>> receiver)
            throws OutcomeUnknownException {
        try {
            return receiver.apply(observer.recent(RECENT, PATIENCE))
                    .flatMap(member -> observer.endpointOf(member.id()))
                    .orElseThrow(() -> new UnobservableException("no suitable member responds"));
        } catch (UnobservableException e) {
            throw new OutcomeUnknownException("'" + name + "' was not sent", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new OutcomeUnknownException("interrupted before '" + name + "' was sent", e);
        }
    }

    /** Returns a responding voter other than {@code itself} if possible; healthy ones first, then the leader. */
    private static Function<ClusterFacts, Optional<MemberFacts>> voterOtherThan(@Nullable MemberId itself) {
        return facts -> facts.voters().stream()
                .filter(voter -> voter.answer().isPresent())
                .max(Comparator.comparing((MemberFacts voter) -> !voter.id().equals(itself))
                        .thenComparing(MemberFacts::isHealthy)
                        .thenComparing(voter -> facts.leader().equals(Optional.of(voter))));
    }

    private static List<String> texts(List<URI> urls) {
        return urls.stream().map(URI::toString).toList();
    }

    /**
     * An error by which etcd rejects a request without any effect; for {@link #TOO_MANY_LEARNERS}, before 3.6 only.
     *
     * <p>It is identified by its text, since gRPC codes differ between releases ({@code rpctypes/error.go}, {@code
     * membership/errors.go}).
     */
    private enum EtcdRefusal {
        TOO_MANY_LEARNERS(
                "etcdserver: too many learner members in cluster",
                "the cluster has the maximum number of learners: one before etcd 3.6, --max-learners since. Promote or"
                        + " remove a learner first"),
        LEARNER_NOT_READY(
                "etcdserver: can only promote a learner member which is in sync with leader",
                "the learner has not started, or has applied less than 90% of the leader's log. Promote it once it is in"
                        + " sync"),
        NOT_A_LEARNER("etcdserver: can only promote a learner member", "the member is already a voting member"),
        NOT_FOUND(
                "etcdserver: member not found",
                "no member has this ID. IDs of removed members are never reused: check the member list, and add the member"
                        + " again if it is missing. Adding a member also fails with this error if the same peer URLs were added"
                        + " and removed within the same second: retry"),
        ID_EXISTS(
                "etcdserver: member ID already exist",
                "a member with the same ID exists. The ID is derived from peer URLs, cluster name and time. Check the member"
                        + " list before adding again"),
        PEER_URL_EXISTS(
                "etcdserver: Peer URLs already exists",
                "another member has this peer URL. Remove that member first, or use another peer URL"),
        BAD_URLS(
                "etcdserver: given member URLs are invalid",
                "a peer URL must be http://host:port or https://host:port, with a port and without a path"),
        NOT_ENOUGH_STARTED(
                "etcdserver: re-configuration failed due to not enough started members",
                "the started members would not form a quorum of the changed cluster. Start members that were added but never"
                        + " started, or remove them, one at a time"),
        UNHEALTHY(
                "etcdserver: unhealthy cluster",
                "the member that received the request has not been connected to a quorum of the changed cluster for 5 s."
                        + " Restart failed members or remove them, and wait until members have been connected for 5 s"),
        BAD_TRANSFEREE(
                "etcdserver: bad leader transferee", "only a voting member can be the leader. Specify a voting member"),
        NOT_LEADER("etcdserver: not leader", "the leader changed before the request. Check the leader and retry"),
        DOWNGRADE_TARGET(
                "etcdserver: invalid downgrade target version",
                "a cluster is downgraded by one minor version, from 3.6 or later"),
        DOWNGRADE_UNDER_WAY(
                "etcdserver: cluster has a downgrade job in progress",
                "another downgrade is enabled. Complete or cancel it first"),
        NO_DOWNGRADE("etcdserver: no inflight downgrade job", "no downgrade is enabled"),
        SENT_TO_LEARNER(
                "etcdserver: rpc not supported for learner",
                "a learner received the request and cannot change the membership. Send it to a voting member"),
        PERMISSION_DENIED(
                "etcdserver: permission denied",
                "changing members requires the root role. Set user and password of such a user (cluster.user,"
                        + " cluster.passwordFile), or its client certificate"),
        USER_EMPTY(
                "etcdserver: user name is empty",
                "the cluster requires authentication. Set a user with the root role (cluster.user, cluster.passwordFile), or"
                        + " its client certificate");

        private final String message;
        private final String explanation;

        EtcdRefusal(String message, String explanation) {
            this.message = message;
            this.explanation = explanation;
        }

        /**
         * Returns the refusal of a status description. Empty for every error after which the request may have had an
         * effect.
         */
        static Optional<EtcdRefusal> of(String description) {
            return Arrays.stream(values())
                    .filter(refusal -> refusal.message.equals(description))
                    .findFirst();
        }

        RefusedException exception() {
            return new RefusedException(message, explanation);
        }
    }
}
