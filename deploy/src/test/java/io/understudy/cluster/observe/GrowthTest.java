package io.understudy.cluster.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.observe.ClusterFacts.Divergence;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.observe.Probe.RaftProgress;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class GrowthTest {

    private static final MemberId LEADER = new MemberId(0xa1);
    private static final MemberId FOLLOWER = new MemberId(0xb2);
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final Growth growth = new Growth();

    @Test
    void silenceIsMeasuredFromTheSecondPageOn() {
        assertThat(look(0, "From 100").silence()).isEmpty();
        assertThat(look(1, "From 100").silence()).containsOnly(Map.entry(FOLLOWER, Duration.ofSeconds(1)));
        assertThat(look(2, "From 101").silence()).containsOnly(Map.entry(FOLLOWER, Duration.ZERO));
        assertThat(look(9, "From 101").silence()).containsOnly(Map.entry(FOLLOWER, Duration.ofSeconds(7)));
    }

    @Test
    void aMissingPageProvesNothingAndInterruptsNothing() {
        look(0, "From 100");
        assertThat(look(1, "").silence()).isEmpty();
        assertThat(look(5, "From 100").silence()).containsOnly(Map.entry(FOLLOWER, Duration.ofSeconds(5)));
    }

    /** Other members of the observation may take longer. */
    @Test
    void silenceCountsFromTheArrivalOfThePageThatShowsTheLastMessage() {
        var unused = look(new ProbeReply.Page(received(100), Optional.empty(), Map.of(), 0, SECOND));
        assertThat(look(new ProbeReply.Page(received(100), Optional.empty(), Map.of(), 3 * SECOND, 9 * SECOND))
                        .silence())
                .containsOnly(Map.entry(FOLLOWER, Duration.ofSeconds(2)));
    }

    private static MetricsPage received(int bytes) {
        return new MetricsPage("etcd_network_peer_received_bytes_total{From=\"b2\"} " + bytes + "\n");
    }

    @Test
    void aCounterThatWasNeverIncrementedIsSilence() {
        look(0, "other 1");
        assertThat(look(4, "other 1").silence()).containsOnly(Map.entry(FOLLOWER, Duration.ofSeconds(4)));
    }

    @Test
    void aRestartBeginsAnotherMeasurement() {
        look(0, "From 100");
        assertThat(look(5, "From 100", "process_start_time_seconds 7").silence())
                .isEmpty();
        assertThat(look(6, "From 100", "process_start_time_seconds 7").silence())
                .containsOnly(Map.entry(FOLLOWER, Duration.ofSeconds(1)));
    }

    @Test
    void aLogIsStalledWhileItIsBehindWithoutProgress() {
        assertThat(stalled(0, Map.of(FOLLOWER, 7L))).isEmpty();
        assertThat(stalled(3, Map.of(FOLLOWER, 7L))).containsOnly(Map.entry(FOLLOWER, Duration.ofSeconds(3)));
        assertThat(stalled(4, Map.of(FOLLOWER, 8L))).containsOnly(Map.entry(FOLLOWER, Duration.ZERO));
        assertThat(stalled(5, Map.of())).isEmpty();
        assertThat(stalled(6, Map.of(FOLLOWER, 8L))).isEmpty();
    }

    @Test
    void fsyncsAreAveragedOverSeconds() {
        assertThat(look(0, fsyncs(100, 1)).fsync()).isEmpty();
        assertThat(look(9, fsyncs(109, 4)).fsync()).isEmpty();
        assertThat(look(10, fsyncs(110, 4)).fsync()).contains(Duration.ofMillis(300));
        assertThat(look(11, fsyncs(111, 9)).fsync()).contains(Duration.ofMillis(300));
        assertThat(look(20, fsyncs(120, 4.125)).fsync())
                .contains(Duration.ofMillis(12).plusNanos(500_000));
    }

    @Test
    void progressIsReadFromTheLeadersPage() {
        assertThat(RaftProgress.behind("""
                        {"memstats": {}, "raft.status": {"id": "a1", "term": 3, "vote": "a1", "commit": 9, "lead": "a1",
                        "raftState": "StateLeader", "applied": 9, "progress": {
                        "a1": {"match": 9, "next": 10, "state": "StateReplicate"},
                        "b2": {"match": 4, "next": 5, "state": "StateProbe"}}, "leadtransferee": "0"}}""")).isEqualTo(Map.of(FOLLOWER, 4L));
        assertThat(RaftProgress.behind("{}")).isEmpty();
        assertThat(RaftProgress.behind("404 page not found")).isEmpty();
    }

    @Test
    void aFollowerNamesItselfAndItsLeader() {
        String page = """
                {"raft.status": {"id": "b2", "commit": 9, "lead": "a1", "raftState": "StateFollower", "progress": {}}}""";
        assertThat(RaftProgress.follows(page, FOLLOWER, LEADER)).isTrue();
        assertThat(RaftProgress.follows(page, LEADER, LEADER)).isFalse();
        assertThat(RaftProgress.follows(page, FOLLOWER, FOLLOWER)).isFalse();
        assertThat(RaftProgress.follows("404 page not found", FOLLOWER, LEADER)).isFalse();
    }

    @Test
    void aDiskWithoutFsyncsIsNotSlow() {
        look(0, fsyncs(100, 1));
        assertThat(look(10, fsyncs(110, 4)).fsync()).isPresent();
        assertThat(look(20, fsyncs(110, 4)).fsync()).isEmpty();
    }

    @Test
    void aMemberThatReceivesASnapshotIsNotBehindWithoutProgress() {
        assertThat(RaftProgress.behind("""
                        {"raft.status": {"commit": 9, "progress": {"b2": {"match": 0, "next": 1, "state": "StateSnapshot"}}}}""")).isEmpty();
    }

    @Test
    void contradictionsAndFailuresAreKept() {
        ClusterFacts facts = new ClusterFacts(
                new ClusterId(1),
                List.of(member(LEADER), member(FOLLOWER)),
                true,
                List.of(),
                Instant.EPOCH,
                new Divergence(Set.of(FOLLOWER), true, List.of("lists differ")),
                Map.of(FOLLOWER, Failure.timeout(Duration.ofSeconds(1))));
        assertThat(growth.measured(facts, Map.of())).isEqualTo(facts);
        assertThat(facts.at(Instant.MAX).divergence()).isEqualTo(facts.divergence());
    }

    private static String[] fsyncs(double count, double seconds) {
        return new String[] {
            "etcd_disk_wal_fsync_duration_seconds_sum " + seconds, "etcd_disk_wal_fsync_duration_seconds_count " + count
        };
    }

    private Map<MemberId, Duration> stalled(long second, Map<MemberId, Long> behind) {
        return look(new ProbeReply.Page(
                        new MetricsPage("other 1\n"), Optional.empty(), behind, second * SECOND, second * SECOND))
                .stalled();
    }

    private Measurements look(long second, String... lines) {
        String text = Stream.of(lines)
                .map(line -> line.replace("From", "etcd_network_peer_received_bytes_total{From=\"b2\"}") + "\n")
                .collect(Collectors.joining());
        return look(new ProbeReply.Page(
                new MetricsPage(text.isBlank() ? "" : text),
                Optional.empty(),
                Map.of(),
                second * SECOND,
                second * SECOND));
    }

    private Measurements look(ProbeReply.Page page) {
        ClusterFacts facts = new ClusterFacts(
                new ClusterId(1), List.of(member(LEADER), member(FOLLOWER)), true, List.of(), Instant.EPOCH);
        return growth.measured(facts, Map.of(LEADER, page))
                .member(LEADER)
                .orElseThrow()
                .measurements();
    }

    private static MemberFacts member(MemberId id) {
        return new MemberFacts(
                id, id.toString(), Role.VOTER, List.of(), List.of(), Optional.empty(), Measurements.NONE);
    }
}
