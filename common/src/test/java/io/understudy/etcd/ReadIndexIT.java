package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Read indexes of a real cluster: which member serves them, and that no acknowledged write is missing from them.
 *
 * <p>Tests invariants E6, E10.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
final class ReadIndexIT {

    @RegisterExtension
    static final EtcdExtension etcd =
            EtcdExtension.voters(3).learners(1).named("index").behindProxies();

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private EtcdCluster cluster;

    @BeforeEach
    void connect() {
        cluster =
                EtcdCluster.connect(EtcdSettings.of(etcd.cluster().clientUrls().toArray(URI[]::new)), meters);
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(cluster.view().members()).hasSize(4).allMatch(Views::isKnownWhole));
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    @Test
    void comesFromTheLearner() {
        long before = System.nanoTime();

        // A busy machine may keep the learner silent for so long that a voter has its turn.
        ReadIndex index = await().atMost(PATIENCE)
                .until(() -> cluster.readIndex(DEADLINE).join(), found -> found.servedBy()
                        .equals(learnerId()));

        assertThat(index.clusterId()).isEqualTo(cluster.view().clusterId());
        assertThat(index.sentNanos()).isBetween(before, System.nanoTime());
        assertThat(rounds("learner", "ok")).isPositive();
    }

    @Test
    void needsNoVotersClientPort() {
        etcd.cluster().voters().forEach(voter -> voter.clientProxy().blackHole());

        // A learner that an earlier test paused is not ready at once.
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(cluster.readIndex(DEADLINE))
                .succeedsWithin(DEADLINE)
                .extracting(ReadIndex::servedBy)
                .isEqualTo(learnerId()));

        assertThat(rounds("voter", "ok")).isZero();
    }

    @Test
    void comesSoonestFromAVoter_whereOneCanBeReached() {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                        cluster.readIndexSoonest(DEADLINE).join().servedBy())
                .isNotEqualTo(learnerId()));

        etcd.cluster().voters().forEach(voter -> voter.clientProxy().cut());

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(cluster.readIndexSoonest(DEADLINE))
                .succeedsWithin(DEADLINE)
                .extracting(ReadIndex::servedBy)
                .isEqualTo(learnerId()));
    }

    @Test
    void coversEveryWriteAcknowledgedBefore() {
        for (int i = 0; i < 200; i++) {
            long written = put("linearizable", Integer.toString(i));
            assertThat(cluster.readIndex(DEADLINE).join().revision().value())
                    .as("after put %d", i)
                    .isGreaterThanOrEqualTo(written);
        }
    }

    @Test
    void coversEveryWriteWhenTheLearnerHasBeenStalled() {
        EtcdMember learner = etcd.cluster().learners().get(0);
        learner.pause();
        long written = 0;
        for (int i = 0; i < 500; i++) {
            written = put("stalled", "x".repeat(1000));
        }

        List<CompletableFuture<ReadIndex>> whileStalled = request(5);
        learner.resume();
        List<CompletableFuture<ReadIndex>> whileBehind = request(5);

        long acknowledged = written;
        assertThat(whileStalled)
                .allSatisfy(index -> assertThat(index.join().revision().value()).isGreaterThanOrEqualTo(acknowledged));
        assertThat(whileBehind)
                .allSatisfy(index -> assertThat(index.join().revision().value()).isGreaterThanOrEqualTo(acknowledged));
    }

    @Test
    @Tag("schedules")
    void aLearnerThatIsBehindConfirmsNothingBeforeItHasCaughtUp() {
        EtcdMember learner = etcd.cluster().learners().get(0);
        EtcdSettings settings = EtcdSettings.of(learner.clientUrl()).withDiscovery(MemberDiscovery.CONFIGURED);
        try (EtcdCluster learnerOnly = EtcdCluster.connect(settings, new SimpleMeterRegistry())) {
            await().atMost(PATIENCE).until(() -> learnerOnly
                    .endpointsFor(Duty.READ_INDEX)
                    .equals(List.of(Endpoint.of(learner.clientUrl()))));
            for (int round = 0; round < 3; round++) {
                learner.pause();
                long written = 0;
                for (int i = 0; i < 300; i++) {
                    written = put("behind", "x".repeat(5000));
                }
                CompletableFuture<ReadIndex> index = learnerOnly.readIndex(PATIENCE);
                learner.resume();

                assertThat(index.join().revision().value()).isGreaterThanOrEqualTo(written);
                assertThat(index.join().servedBy()).isEqualTo(learnerId());
            }
        }
    }

    @Test
    void fallsBackToAVoterWhenTheLearnerIsGoneAndReturnsToIt() {
        EtcdMember learner = etcd.cluster().learners().get(0);
        learner.kill();

        ReadIndex index = cluster.readIndex(DEADLINE).join();

        assertThat(index.servedBy()).isNotEqualTo(learnerId());
        learner.start();
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                        cluster.readIndex(DEADLINE).join().servedBy())
                .isEqualTo(learnerId()));
    }

    @Test
    void doesNotWaitUntilItsDeadlineForAStalledLearner() {
        etcd.cluster().learners().get(0).pause();

        ReadIndex index = cluster.readIndex(DEADLINE).join();

        assertThat(index.servedBy()).isNotEqualTo(learnerId());
    }

    @Test
    void aMissedShortRoundIsNoFailureOfTheMember() {
        Endpoint learner = Endpoint.of(etcd.cluster().learners().get(0).clientUrl());
        etcd.cluster().learners().get(0).pause();

        CompletableFuture<ReadIndex> round = cluster.readIndexRound(Duration.ofMillis(100));

        await().atMost(PATIENCE).until(() -> round.isDone() && rounds("learner", "failed") == 1);
        assertThat(cluster.endpointsFor(Duty.READ_INDEX)).first().isEqualTo(learner);
    }

    @Test
    void failsByItsDeadlineWithoutAQuorum() {
        etcd.cluster().voters().subList(0, 2).forEach(EtcdMember::kill);

        CompletableFuture<ReadIndex> patient = cluster.readIndex(PATIENCE);
        CompletableFuture<ReadIndex> index = cluster.readIndex(Duration.ofSeconds(2));

        assertThatThrownBy(index::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(EtcdUnavailableException.class)
                .hasMessageContaining("read index ");
        assertThat(patient).as("one with a later deadline").isNotDone();
    }

    @Test
    void manyAskersShareFewRounds() {
        List<CompletableFuture<ReadIndex>> many = request(300);

        assertThat(many)
                .allSatisfy(index -> assertThat(index.join().revision().value()).isPositive());
        assertThat(rounds("learner", "ok") + rounds("voter", "ok")).isLessThan(30);
    }

    private List<CompletableFuture<ReadIndex>> request(int times) {
        List<CompletableFuture<ReadIndex>> requests = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            requests.add(cluster.readIndex(DEADLINE));
        }
        return requests;
    }

    private long put(String key, String value) {
        Endpoint voter = Endpoint.of(etcd.cluster().voters().get(0).clientUrl());
        return KVGrpc.newBlockingStub(cluster.channel(voter))
                .withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setValue(ByteString.copyFromUtf8(value))
                        .build())
                .getHeader()
                .getRevision();
    }

    private long rounds(String role, String outcome) {
        var timer = meters.find("understudy.etcd.readindex")
                .tags("role", role, "outcome", outcome)
                .timer();
        return timer == null ? 0 : timer.count();
    }

    private static MemberId learnerId() {
        return new MemberId(etcd.cluster().learners().get(0).id());
    }
}
