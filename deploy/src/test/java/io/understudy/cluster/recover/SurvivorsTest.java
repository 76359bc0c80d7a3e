package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.ProcessKind;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Whom recovery goes on from, and when it leaves that to the operator.
 *
 * <p>Tests invariant DP10.
 */
final class SurvivorTest {

    @Test
    void ofThoseThatAnswerTheOneThatKnowsMostToBeCommitted() {
        assertThat(chosen(answering("v1", 9, 100, 50), answering("v2", 2, 101, 50), gone("v3"), gone("v4")))
                .isEqualTo("v2");
    }

    @Test
    void ofThoseThatDoNotAnswerTheOneWhoseDataHasTheHighestRevision() {
        assertThat(chosen(silent("v1", 1000), silent("v2", 5000), gone("v3"))).isEqualTo("v2");
    }

    @Test
    void startingThemLosesNothingOfWhatWasReadBefore() {
        Remains first = locked("v1").since(silent("v1", 1000));
        Remains second = locked("v2").since(silent("v2", 5000));
        assertThat(chosen(first, second, gone("v3"), gone("v4"))).isEqualTo("v2");
        assertThat(chosen(first, silent("v2", 900), gone("v3"))).isEqualTo("v1");
    }

    @Test
    void whoAnsweredBeforeKeepsTheRevisionItTold() {
        assertThat(locked("v1").since(answering("v1", 2, 7, 5)).known()).contains(5L);
    }

    @Test
    void whoAnswersIsNotChosenWhereDataOfAnotherHasMore() {
        refuses("v2 has revision 5000, v1 only 1000", answering("v1", 2, 1000, 1000), silent("v2", 5000));
        assertThat(chosen(answering("v1", 2, 1000, 1000), silent("v2", 1000))).isEqualTo("v1");
    }

    @Test
    void nobodyIsChosenWhileAnotherMayHaveMore() {
        refuses("the revision of v2 is unknown", answering("v1", 2, 10, 10), locked("v2"));
        refuses("the revision of v2 is unknown", answering("v1", 2, 10, 10), unseen("v2"));
        refuses("the revision of v2 is unknown", silent("v1", 10), locked("v2"), gone("v3"));
        refuses("the revision of v1 is unknown", locked("v1"), locked("v2"));
        assertThatThrownBy(() -> Survivor.mostRecent(List.of(answering("v1", 2, 10, 10)), List.of("v9")))
                .hasMessageContaining("no machine is configured for member v9");
    }

    @Test
    void nobodyIsChosenWhileEnoughVotersRunForAQuorum() {
        refuses(
                "2 of 3 voting members run",
                locked("v1").since(silent("v1", 9)),
                locked("v2").since(silent("v2", 9)),
                gone("v3"));
        // Only the data of those that ran here tells how many there are.
        Remains first = storing("v1", Set.of("v1", "v2", "v3"));
        Remains second = storing("v2", Set.of("v1", "v2", "v3"));
        refuses("2 of 3 voting members run", first, second);
        assertThat(chosen(storing("v1", Set.of("v1", "v2", "v3", "v4")), storing("v2", Set.of("v2"))))
                .isEqualTo("v1");
    }

    @Test
    void whoIsTheOnlyOneLeftNeedsNoComparison() {
        assertThat(chosen(locked("v1"), gone("v2"), gone("v3"))).isEqualTo("v1");
    }

    @Test
    void aLearnerIsNeverChosenThoughItMayHaveMore() {
        Remains learner = with(Optional.of(Role.LEARNER), Optional.of(answer(2, 90, 90)), Optional.empty());
        assertThat(chosen(answering("v1", 2, 90, 90), learner, gone("v2"))).isEqualTo("v1");
        refuses("s has revision 90, v1 only 10", answering("v1", 2, 10, 10), learner);
        refuses("no member to recover from", learner, gone("v2"));
        assertThatThrownBy(() -> Survivor.named("s", List.of(learner))).hasMessageContaining("is a learner");
    }

    @Test
    void whoseRoleNobodyTellsIsOnlyChosenByTheOperator() {
        Remains unknown = with(Optional.empty(), Optional.empty(), Optional.of(7L));
        refuses("unknown whether s is a voting member", unknown, gone("v2"));
        assertThat(Survivor.named("s", List.of(unknown)).name()).isEqualTo("s");
        // Such as the leftovers of a member that was removed.
        assertThat(chosen(answering("v1", 2, 10, 10), unknown, gone("v2"))).isEqualTo("v1");
    }

    @Test
    void whereNothingIsLeftASnapshotIs() {
        refuses("cluster restore", gone("v1"), gone("v2"));
        assertThatThrownBy(() -> Survivor.named("v1", List.of(gone("v1")))).hasMessageContaining("has no data");
        assertThatThrownBy(() -> Survivor.named("v4", List.of(gone("v1")))).hasMessageContaining("v4");
    }

    private static String chosen(Remains... all) {
        return Survivor.mostRecent(List.of(all), List.of()).name();
    }

    private static void refuses(String why, Remains... all) {
        assertThatThrownBy(() -> Survivor.mostRecent(List.of(all), List.of()))
                .isInstanceOf(RecoveryException.class)
                .hasMessageContaining(why);
    }

    private static Remains answering(String name, long term, long index, long revision) {
        return voter(name, Optional.of(answer(term, index, revision)), Optional.of(true), Optional.empty(), true);
    }

    /** Its process has ended, and its data can be read. */
    private static Remains silent(String name, long revision) {
        return voter(name, Optional.empty(), Optional.of(true), Optional.of(revision), false);
    }

    /** Its process is there, but does not answer. */
    private static Remains locked(String name) {
        return voter(name, Optional.empty(), Optional.of(true), Optional.empty(), true);
    }

    private static Remains gone(String name) {
        return voter(name, Optional.empty(), Optional.of(false), Optional.empty(), false);
    }

    /** Elsewhere. */
    private static Remains unseen(String name) {
        return voter(name, Optional.empty(), Optional.empty(), Optional.empty(), false);
    }

    private static Remains voter(
            String name,
            Optional<MemberAnswer> answer,
            Optional<Boolean> hasData,
            Optional<Long> revision,
            boolean isRunning) {
        return new Remains(
                machine(name),
                Optional.of(Role.VOTER),
                answer,
                Optional.of(isRunning),
                hasData,
                revision.map(SurvivorTest::stored));
    }

    /** It runs, and its data was read before. */
    private static Remains storing(String name, Set<String> voters) {
        return new Remains(
                machine(name),
                Optional.of(Role.VOTER),
                Optional.empty(),
                Optional.of(true),
                Optional.of(true),
                Optional.of(new Stored(7, voters)));
    }

    private static Stored stored(long revision) {
        return new Stored(revision, Set.of());
    }

    private static Remains with(Optional<Role> role, Optional<MemberAnswer> answer, Optional<Long> revision) {
        return new Remains(
                machine("s"), role, answer, Optional.of(true), Optional.of(true), revision.map(SurvivorTest::stored));
    }

    private static MemberAnswer answer(long term, long index, long revision) {
        return new MemberAnswer(
                EtcdVersion.parse("3.5.30"),
                Optional.empty(),
                term,
                index,
                index,
                new Revision(revision),
                0,
                0,
                false,
                List.of());
    }

    private static MachineSettings machine(String name) {
        return MachineSettings.of(
                new MemberSpec(
                        name, List.of(URI.create("http://127.0.0.1:1")), List.of(URI.create("http://127.0.0.1:2"))),
                ProcessKind.LOCAL,
                Path.of("/nowhere", name));
    }
}
