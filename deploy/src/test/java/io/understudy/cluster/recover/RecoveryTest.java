package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.shape.Shape;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a recovery from m1 removes while m1 and m2 have a quorum, and m3 has data elsewhere. */
final class RecoveryTest {

    private static final MemberId THREE = new MemberId(3);
    private static final Duration HOUR = Duration.ofHours(1);

    private final List<MachineSettings> machines =
            IntStream.rangeClosed(1, 3).mapToObj(RecoveryTest::machine).toList();
    private final EtcdConnections connections = EtcdConnections.open(EtcdSettings.of(URI.create("http://127.0.0.1:1")));
    private final List<String> printed = new ArrayList<>();
    private final List<String> confirmed = new ArrayList<>();
    private int looks;
    private int looksSinceConfirmed;
    private int firstAnswer = Integer.MAX_VALUE;
    private int firstAnswerSinceConfirmed = Integer.MAX_VALUE;

    @AfterEach
    void close() {
        connections.close();
    }

    @Test
    void aMemberThatIsSilentInOneLookIsNotRemoved() {
        firstAnswer = 2;

        assertThat(recovery().run(Set.of("m1"))).isTrue();

        assertThat(confirmed).isEmpty();
        assertThat(printed).noneMatch(line -> line.startsWith("removed"));
    }

    @Test
    void aSilentMemberIsRemoved() {
        assertThat(recovery().run(Set.of("m1"))).isTrue();

        assertThat(confirmed)
                .singleElement()
                .asString()
                .startsWith("remove m3 from the member list, as --from gives them up, no member receives messages");
        assertThat(printed).anyMatch(line -> line.startsWith("removed m3 from the member list"));
    }

    @Test
    void aMemberThatReturnsBeforeTheRemovalStays() {
        firstAnswerSinceConfirmed = 1;

        assertThat(recovery().run(Set.of("m1"))).isTrue();

        assertThat(confirmed).hasSize(1);
        assertThat(printed)
                .contains("m3 has returned and is not removed")
                .noneMatch(line -> line.startsWith("removed"));
    }

    /** The host of the command may be cut off from the member, the others not. */
    @ParameterizedTest
    @CsvSource({"PT1H,PT1H,true", "PT0S,PT1H,false", "PT1H,PT0S,false", ",PT1H,false", "PT1H,,true"})
    void aMemberThatOthersMayHearIsNotSilent(@Nullable Duration leader, @Nullable Duration follower, boolean isSilent) {
        ClusterFacts facts = facts(voter(1, true, leader), voter(2, true, follower), voter(3, false, null));

        assertThat(QuorumWatch.isSilent(facts, THREE)).isEqualTo(isSilent);
    }

    /** After the confirmation, the second look requests the removal, and the third observes it. */
    private ClusterFacts look() {
        looks++;
        looksSinceConfirmed += confirmed.isEmpty() ? 0 : 1;
        boolean answers = looks >= firstAnswer || looksSinceConfirmed >= firstAnswerSinceConfirmed;
        MemberFacts[] members = Stream.of(voter(1, true, HOUR), voter(2, true, HOUR), voter(3, answers, null))
                .limit(answers || looksSinceConfirmed < 3 ? 3 : 2)
                .toArray(MemberFacts[]::new);
        return facts(members);
    }

    private Recovery recovery() {
        Survey survey = new Survey(patience -> look(), new NoMachines(), machines, connections, Duration.ofSeconds(1));
        Operator operator = new Operator() {
            @Override
            public void print(String line) {
                printed.add(line);
            }

            @Override
            public boolean confirms(String step) {
                confirmed.add(step);
                return true;
            }
        };
        LearnerRestore learners = new LearnerRestore(
                survey,
                operator,
                () -> {
                    throw new IllegalStateException("nothing is restored");
                },
                () -> Path.of("etcd"),
                Optional.empty(),
                new Shape(3, 1, Set.of(), false, 1),
                Duration.ofSeconds(10));
        return new Recovery(survey, operator, learners, Duration.ofSeconds(10), Duration.ZERO, Duration.ofSeconds(1));
    }

    private static ClusterFacts facts(MemberFacts... members) {
        return new ClusterFacts(new ClusterId(7), List.of(members), true, List.of(), Instant.EPOCH);
    }

    private static MemberFacts voter(int number, boolean answers, @Nullable Duration silenceOfThree) {
        MemberSpec member = machine(number).member();
        return new MemberFacts(
                new MemberId(number),
                member.name(),
                Role.VOTER,
                member.peerUrls(),
                member.clientUrls(),
                answers
                        ? Optional.of(MemberAnswer.of(
                                StatusResponse.newBuilder().setLeader(1).build(), true))
                        : Optional.empty(),
                silenceOfThree == null
                        ? Measurements.NONE
                        : new Measurements(Map.of(THREE, silenceOfThree), Map.of(), Optional.empty(), false));
    }

    private static MachineSettings machine(int number) {
        return MachineSettings.of(
                new MemberSpec(
                        "m" + number,
                        List.of(URI.create("http://127.0.0.1:1" + number)),
                        List.of(URI.create("http://127.0.0.1:2" + number))),
                ProcessKind.MANUAL,
                Path.of("/nowhere", "m" + number));
    }
}
