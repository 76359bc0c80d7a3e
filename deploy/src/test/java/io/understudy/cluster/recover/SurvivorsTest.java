package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.StatusResponse;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.recover.LogEntry.Fields;
import io.understudy.cluster.recover.LogEntry.LogPosition;
import io.understudy.cluster.recover.LogEntry.Voting;
import io.understudy.etcd.Role;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Which members elect a leader, and which doubts are left to the operator. Member n has ID n and the name mN.
 *
 * <p>Tests invariants DP10, DP14.
 */
final class SurvivorsTest {

    private static final Voting THREE = voting(3);
    private static final Voting FIVE = voting(5);

    @Test
    void asManyStartWithoutDataAsTheQuorumLacks() {
        Survivors three = choose(with(1, THREE, 2, 10), gone(2), gone(3));
        assertThat(names(three.all())).containsExactly("m1");
        assertThat(names(three.empty())).containsExactly("m2");
        assertThat(names(three.others())).containsExactly("m3");

        Survivors five = choose(with(1, FIVE, 2, 10), gone(2), gone(3), gone(4), gone(5));
        assertThat(names(five.empty())).containsExactly("m2", "m3");

        Survivors two = choose(with(1, FIVE, 2, 10), with(2, FIVE, 2, 12), gone(3), gone(4), gone(5));
        assertThat(names(two.all())).containsExactly("m1", "m2");
        assertThat(names(two.empty())).containsExactly("m3");
        assertThat(two.best().name()).isEqualTo("m2");
    }

    @Test
    void theLastEntrysTermCountsBeforeItsIndex() {
        Survivors survivors = choose(with(1, FIVE, 2, 99), with(2, FIVE, 3, 12), gone(3), gone(4), gone(5));
        assertThat(survivors.best().name()).isEqualTo("m2");
    }

    /** Its log is on another machine. */
    @Test
    void aRespondingMemberIsComparedByIndex() {
        Remains read = with(1, FIVE, 2, 10);
        Remains older = with(2, FIVE, 1, 30);
        assertThat(Remains.mostComplete(List.of(read, older, responding(3, 20))).map(Remains::name))
                .hasValue("m3");
        assertThat(Remains.mostComplete(List.of(read, older, responding(3, 10))).map(Remains::name))
                .hasValue("m1");
    }

    private static Remains responding(int member, long index) {
        return new Remains(
                machine(member, member),
                Optional.of(Role.VOTER),
                Optional.of(MemberAnswer.of(
                        StatusResponse.newBuilder().setRaftIndex(index).build(), false)),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                "");
    }

    @Test
    void membersThatAnInterruptedRunStartedWithoutDataStayTheOnes() {
        Survivors survivors = choose(with(1, THREE, 2, 10), gone(2), blank(3));
        assertThat(names(survivors.empty())).containsExactly("m3");
        assertThat(names(survivors.others())).containsExactly("m2");
    }

    @Test
    void enoughSurvivorsNeedNoOtherMember() {
        refuses("enough for a quorum", with(1, THREE, 2, 10), with(2, THREE, 2, 10), gone(3));
    }

    @Test
    void aMemberThatMayHaveMoreIsADoubt() {
        refuses("m2 may have more", with(1, THREE, 2, 10), unseen(2), gone(3));
        refuses("m2 may have more", with(1, THREE, 2, 10), damaged(2), gone(3));
        refuses("no machine is configured for member m3", with(1, THREE, 2, 10), gone(2));
        Voting learner = new Voting(Set.of(1L, 2L, 3L), Set.of(4L));
        refuses("no machine is configured for member m4", with(1, learner, 2, 10), gone(2), gone(3));
        refuses("learner m4 has more than m1", with(1, learner, 2, 10), gone(2), gone(3), with(4, learner, 2, 11));
        assertThat(names(choose(with(1, learner, 2, 10), gone(2), gone(3), with(4, learner, 2, 10))
                        .empty()))
                .containsExactly("m2");
    }

    @Test
    void theOperatorMayChooseMembersRegardlessOfOthers() {
        Survivors survivors =
                Survivors.choose(Set.of("m1"), List.of(with(1, THREE, 2, 10), damaged(2), gone(3)), Optional.empty());
        assertThat(names(survivors.all())).containsExactly("m1");
        assertThat(names(survivors.empty())).containsExactly("m3");
        assertThat(names(survivors.others())).containsExactly("m2");
        assertThatThrownBy(() -> Survivors.choose(
                        Set.of("m3"), List.of(with(1, THREE, 2, 10), gone(2), gone(3)), Optional.empty()))
                .hasMessageContaining("cannot recover from m3: it has no data");
        assertThatThrownBy(() -> Survivors.choose(Set.of("m9"), List.of(with(1, THREE, 2, 10)), Optional.empty()))
                .hasMessageContaining("no machine is configured for member m9");
    }

    /** Data set aside on this machine cannot return; what is on an unmounted disk can. */
    @Test
    void membersGivenUpWithDataThatMayReturnAreUnsecured() {
        assertThat(from("m1", with(1, THREE, 2, 10), gone(2), gone(3)).unsecured())
                .isEmpty();
        assertThat(from("m1", with(1, THREE, 2, 10), gone(2), damaged(3)).unsecured())
                .isEmpty();
        assertThat(from("m1", with(1, THREE, 2, 10), gone(2), unseen(3)).unsecured())
                .containsOnlyKeys(3L);
        Voting learner = new Voting(Set.of(1L, 2L, 3L), Set.of(4L));
        assertThat(from("m1", with(1, learner, 2, 10), gone(2), gone(3), with(4, learner, 2, 11))
                        .unsecured())
                .isEmpty();
        for (Remains unread : List.of(unseen(4), damaged(4))) {
            assertThat(from("m1", with(1, learner, 2, 10), gone(2), gone(3), unread)
                            .unsecured())
                    .containsOnlyKeys(4L);
        }
        assertThat(from("m1", with(1, learner, 2, 10), gone(2), gone(3)).unsecured())
                .as("without a machine")
                .containsOnlyKeys(4L);
    }

    @Test
    void aLogThatEndsWithAnotherConfigurationIsRefusedIfThatHasNoQuorum() {
        refuses("changes the voting members to 4, m1, m2, m3", pending(THREE, 0, 4), gone(2), gone(3));
        refuses("changes the voting members to m2, m3", pending(THREE, 1, 1), gone(2), gone(3));
        assertThat(names(choose(pending(THREE, 3, 4), gone(2), gone(3)).empty()))
                .containsExactly("m2");
        assertThat(names(choose(pending(THREE, 1, 2), gone(2), gone(3)).empty()))
                .as("the lost member that leaves is of no use, the other is")
                .containsExactly("m3");
    }

    @Test
    void leftoversOfARemovedMemberAreIgnored() {
        Survivors survivors = choose(with(1, THREE, 2, 10), gone(2), gone(3), with(9, voting(9), 1, 5));
        assertThat(names(survivors.all())).containsExactly("m1");
    }

    @Test
    void aChangeThatEtcdRejectedAfterItsCommitDoesNotCount() {
        Stored accepted = stored(1, voting(3), new LogPosition(2, 10), List.of());
        WriteAheadLog log = stored(1, new Voting(Set.of(1L, 2L, 3L, 5L), Set.of(4L)), new LogPosition(2, 10), List.of())
                .log();
        assertThat(new Stored(log, accepted.database()).voting()).isEqualTo(THREE);
        Stored.Database behind = new Stored.Database(7, 9, accepted.database().members());
        assertThat(new Stored(log, behind).voting()).isEqualTo(log.voting());
    }

    /** The log marks an entry as committed with a later one. */
    @Test
    void aChangeThatTheDatabaseHasAppliedCounts() {
        assertThat(applied(pending(voting(1), 0, 2)).stored().orElseThrow().voting())
                .isEqualTo(voting(2));
        Stored learner = applied(pending(THREE, 3, 4)).stored().orElseThrow();
        assertThat(learner.voting()).isEqualTo(new Voting(Set.of(1L, 2L, 3L), Set.of(4L)));
        assertThat(learner.pendingChanges()).isEmpty();
        refuses("no machine is configured for member 2", applied(pending(voting(1), 0, 2)));
    }

    private static Remains applied(Remains each) {
        Stored stored = each.stored().orElseThrow();
        long last = stored.log().last().index();
        Map<Long, Stored.Listed> members = LongStream.rangeClosed(1, 4)
                .boxed()
                .collect(Collectors.toMap(id -> id, id -> new Stored.Listed("", List.of())));
        return remains(
                each.machine(),
                Optional.of(new Stored(stored.log(), new Stored.Database(7, last, members))),
                each.hasData(),
                "");
    }

    @Test
    void aLostMemberKeepsItsPeerUrls() {
        Remains elsewhere = remains(machine(2, 99), Optional.empty(), Optional.of(false), "");
        refuses("machines.m2.peerUrls is [http://10.0.0.99:2380]", with(1, THREE, 2, 10), elsewhere, gone(3));
    }

    @Test
    void withoutAVotingMemberThereIsNothingToChoose() {
        assertThat(Survivors.exist(List.of(gone(1), gone(2)))).isFalse();
        assertThat(Survivors.exist(List.of(with(1, new Voting(Set.of(2L), Set.of(1L)), 2, 10), gone(2))))
                .isFalse();
        assertThat(Survivors.exist(List.of(with(1, THREE, 2, 10), gone(2)))).isTrue();
    }

    private static Survivors choose(Remains... remains) {
        return Survivors.choose(Set.of(), List.of(remains), Optional.empty());
    }

    private static Survivors from(String name, Remains... remains) {
        return Survivors.choose(Set.of(name), List.of(remains), Optional.empty());
    }

    private static void refuses(String why, Remains... remains) {
        assertThatThrownBy(() -> choose(remains))
                .isInstanceOf(RecoveryException.class)
                .hasMessageContaining(why);
    }

    private static List<String> names(List<Remains> remains) {
        return remains.stream().map(Remains::name).toList();
    }

    private static Voting voting(int voters) {
        return new Voting(LongStream.rangeClosed(1, voters).boxed().collect(Collectors.toSet()), Set.of());
    }

    static Remains with(int member, Voting voting, long term, long index) {
        return remains(
                machine(member, member),
                Optional.of(stored(member, voting, new LogPosition(term, index), List.of())),
                Optional.of(true),
                "");
    }

    /** Member 1, with a change of the configuration that is not committed. */
    private static Remains pending(Voting voting, long kind, long member) {
        UnknownFieldSet change = UnknownFieldSet.newBuilder()
                .addField(2, Fields.number(kind))
                .addField(3, Fields.number(member))
                .build();
        LogPosition at = new LogPosition(2, 10);
        return remains(
                machine(1, 1),
                Optional.of(stored(1, voting, at, List.of(new LogEntry(at, 1, change.toByteString())))),
                Optional.of(true),
                "");
    }

    private static Remains blank(int member) {
        return remains(
                machine(member, member),
                Optional.of(stored(member, Voting.NONE, LogPosition.NONE, List.of())),
                Optional.of(true),
                "");
    }

    private static Remains gone(int member) {
        return remains(machine(member, member), Optional.empty(), Optional.of(false), "");
    }

    private static Remains unseen(int member) {
        return remains(machine(member, member), Optional.empty(), Optional.empty(), "");
    }

    private static Remains damaged(int member) {
        return remains(machine(member, member), Optional.empty(), Optional.of(true), "CRC mismatch");
    }

    private static Remains remains(
            MachineSettings machine, Optional<Stored> stored, Optional<Boolean> hasData, String trouble) {
        Optional<Role> role = stored.flatMap(data -> data.isVoter()
                ? Optional.of(Role.VOTER)
                : data.isLearner() ? Optional.of(Role.LEARNER) : Optional.empty());
        return new Remains(machine, role, Optional.empty(), Optional.of(false), hasData, stored, trouble);
    }

    private static Stored stored(long member, Voting voting, LogPosition last, List<LogEntry> tail) {
        Map<Long, Stored.Listed> members = Stream.concat(voting.voters().stream(), voting.learners().stream())
                .collect(Collectors.toMap(
                        id -> id,
                        id -> new Stored.Listed(
                                "m" + id,
                                machine((int) (long) id, (int) (long) id)
                                        .member()
                                        .peerUrls())));
        return new Stored(
                new WriteAheadLog(
                        member,
                        1,
                        last.term(),
                        0,
                        last,
                        last.index() - tail.size(),
                        voting,
                        tail,
                        new WriteAheadLog.End(Path.of("/nowhere"), 0, 0)),
                new Stored.Database(7, last.index() - tail.size(), members));
    }

    private static MachineSettings machine(int member, int host) {
        return MachineSettings.of(
                new MemberSpec(
                        "m" + member,
                        List.of(URI.create("http://10.0.0." + host + ":2380")),
                        List.of(URI.create("http://10.0.0." + host + ":2379"))),
                ProcessKind.LOCAL,
                Path.of("/nowhere", "m" + member));
    }
}
