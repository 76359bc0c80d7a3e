package io.understudy.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What real etcd refuses: in its own words, with what they mean, and with nothing changed.
 *
 * <p>Tests invariant DP28.
 */
final class EtcdRefusalsIT {

    private static final URI NOWHERE = URI.create("http://127.0.0.1:1");
    private static final MemberId MISSING = new MemberId(0xdeadL);

    @TempDir
    private Path folder;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private LocalEtcd cluster;
    private EtcdConnections connections;
    private EtcdObserver observer;
    private Membership membership;

    @AfterEach
    void stop() {
        connections.close();
        cluster.close();
    }

    @Test
    void aSecondLearner() throws Exception {
        start(1, 1, true);
        // Members of 3.6 may have different limits, so that others may have added it.
        boolean isOfAll = observe().members().stream()
                .flatMap(member -> member.answer().stream())
                .noneMatch(answer -> answer.version().maxLearnersConfigurable());

        if (isOfAll) {
            assertThatRefused(
                    () -> membership.addLearner(List.of(NOWHERE)),
                    "etcdserver: too many learner members in cluster",
                    "Promote or remove a learner first");
        } else {
            assertThatThrownBy(() -> membership.addLearner(List.of(NOWHERE)))
                    .isInstanceOf(OutcomeUnknownException.class)
                    .hasMessageContaining("too many learner members in cluster");
        }
        assertThat(observe().members()).hasSize(2);
        assertThat(meters.get("understudy.cluster.requests")
                        .tags("request", "add", "outcome", isOfAll ? "refused" : "unknown")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    /** Else an aborted command does not find the learner, which is listed a moment later. */
    @Test
    void anInterruptedAdditionHasAnOutcome() throws Exception {
        start(1, 0, true);
        int members = observe().members().size();

        Thread.currentThread().interrupt();
        MemberId learner = membership.addLearner(List.of(NOWHERE));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(observe().members()).hasSize(members + 1);
        assertThat(observe().member(learner)).isPresent();
    }

    @Test
    void promotingALearnerThatIsNotInSync() throws Exception {
        start(1, 0, true);
        MemberId learner = membership.addLearner(List.of(NOWHERE));

        assertThatRefused(
                () -> membership.promote(learner),
                "etcdserver: can only promote a learner member which is in sync with leader",
                "Promote it once it is in sync");
        assertThat(observe().member(learner).orElseThrow().isLearner()).isTrue();
    }

    @Test
    void promotingAVoter() throws Exception {
        start(1, 0, true);

        assertThatRefused(
                () -> membership.promote(id(cluster.leader())),
                "etcdserver: can only promote a learner member",
                "already a voting member");
    }

    @Test
    void promotingRemovingOrUpdatingAMissingMember() throws Exception {
        start(1, 0, true);
        String words = "etcdserver: member not found";

        assertThatRefused(() -> membership.promote(MISSING), words, "IDs of removed members are never reused");
        assertThatRefused(() -> membership.remove(MISSING), words, "check the member list");
        assertThatRefused(() -> membership.updatePeerUrls(MISSING, List.of(NOWHERE)), words, "check the member list");
    }

    @Test
    void aPeerUrlThatAnotherMemberHas() throws Exception {
        start(1, 0, true);
        List<URI> taken = observe().members().get(0).peerUrls();

        assertThatRefused(
                () -> membership.addLearner(taken), "etcdserver: Peer URLs already exists", "Remove that member first");
        assertThat(observe().members()).hasSize(1);
    }

    @Test
    void aPeerUrlThatIsNone() throws Exception {
        start(1, 0, true);

        for (String mistyped : List.of("127.0.0.1", "http://127.0.0.1", "http://127.0.0.1:2380/path", "tcp://a:1")) {
            assertThatRefused(
                    () -> membership.addLearner(List.of(URI.create(mistyped))),
                    "etcdserver: given member URLs are invalid",
                    "http://host:port or https://host:port");
        }
        assertThat(observe().members()).hasSize(1);
    }

    @Test
    void anAddWithinFiveSecondsOfTheStart() throws Exception {
        start(3, 0, true);

        assertThatRefused(
                () -> membership.addLearner(List.of(NOWHERE)),
                "etcdserver: unhealthy cluster",
                "wait until members have been connected for 5 s");

        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(500))
                .ignoreExceptionsInstanceOf(RefusedException.class)
                .until(() -> membership.addLearner(List.of(NOWHERE)), id -> id.value() != 0);
    }

    @Test
    void aRemovalThatLeavesTooFewThatEverStarted() throws Exception {
        start(2, 0, true);
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(500))
                .ignoreExceptions()
                .until(
                        () -> cluster.etcdctl("member", "add", "never", "--peer-urls=" + NOWHERE),
                        out -> !out.isEmpty());

        assertThatRefused(
                () -> membership.remove(id(cluster.followers().get(0))),
                "etcdserver: re-configuration failed due to not enough started members",
                "Start members that were added but never started, or remove them");
        assertThat(observe().healthyVoters()).hasSize(2);
        assertThat(observe().voters()).hasSize(3);
    }

    @Test
    void aLearnerThatIsToLead() throws Exception {
        start(1, 1, true);

        assertThatRefused(
                () -> membership.moveLeader(
                        id(cluster.leader()), id(cluster.learners().get(0))),
                "etcdserver: bad leader transferee",
                "Specify a voting member");
    }

    @Test
    void withoutAQuorumTheOutcomeIsUnknown() throws Exception {
        start(3, 0, false);
        EtcdMember victim = cluster.followers().get(0);
        cluster.followers().forEach(EtcdMember::kill);

        assertThat(catchThrowableOfType(OutcomeUnknownException.class, () -> membership.remove(id(victim))))
                .isNotNull();
        assertThat(observe().members()).extracting(MemberFacts::id).contains(id(victim));
    }

    private void assertThatRefused(ThrowingCallable request, String words, String explanation) {
        RefusedException refusal = catchThrowableOfType(RefusedException.class, request);
        assertThat(refusal).as(words).isNotNull();
        assertThat(refusal.etcdMessage()).isEqualTo(words);
        assertThat(refusal).hasMessageStartingWith(words + ": ").hasMessageContaining(explanation);
    }

    private ClusterFacts observe() throws InterruptedException {
        return observer.observe(Duration.ofSeconds(10));
    }

    private static MemberId id(EtcdMember member) {
        return new MemberId(member.id());
    }

    private void start(int voters, int learners, boolean strict) throws InterruptedException {
        cluster = LocalEtcd.builder()
                .name("refusing")
                .voters(voters)
                .learners(learners)
                .fsync(false)
                .strictReconfiguration(strict)
                // One learner, as before 3.6 and by default since.
                .extraArguments(
                        EtcdBinaries.find().version().isAtLeast(new ProgramVersion(3, 6, 0))
                                ? new String[] {"--max-learners=1"}
                                : new String[0])
                .dataDirectory(folder)
                .build();
        EtcdSettings settings = EtcdSettings.of(cluster.clientUrls().toArray(URI[]::new));
        connections = EtcdConnections.open(settings);
        observer = new EtcdObserver(settings, connections, meters);
        membership = new EtcdMembership(observer, connections, meters);
        // What the first request of a process takes is not to count from the cluster's start.
        assertThatThrownBy(this::observe).isInstanceOf(UnobservableException.class);
        cluster.start();
    }
}
