package io.understudy.cluster.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The arithmetic of votes, against what a majority is.
 *
 * <p>Tests invariant DP29.
 */
final class QuorumTest {

    @ParameterizedTest
    @CsvSource({"1,1,0", "2,2,0", "3,2,1", "4,3,1", "5,3,2", "6,4,2", "7,4,3", "8,5,3", "9,5,4"})
    void ofSoManyVotersSoManyAreNeededAndSoManyMayFail(int voters, int needed, int tolerance) {
        Quorum all = new Quorum(voters, voters);
        assertThat(all.needed()).isEqualTo(needed);
        assertThat(all.tolerance()).isEqualTo(tolerance);
    }

    @Test
    void theTextHasTheFaultTolerance() {
        assertThat(new Quorum(1, 1)).hasToString("1 voter, 1 healthy, 1 needed: survives no failure");
        assertThat(new Quorum(3, 3)).hasToString("3 voters, 3 healthy, 2 needed: survives 1 failure");
        assertThat(new Quorum(5, 5)).hasToString("5 voters, 5 healthy, 3 needed: survives 2 failures");
        assertThat(new Quorum(3, 1)).hasToString("3 voters, 1 healthy, 2 needed: no quorum, 1 short");
    }

    @Test
    void moreHealthyThanThereAreVotersIsNoQuorum() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Quorum(3, 4));
        assertThatIllegalArgumentException().isThrownBy(() -> new Quorum(3, -1));
    }

    @Property
    void twoQuorumsAlwaysShareAVoter(@ForAll("quorums") Quorum quorum) {
        assertThat(2 * quorum.needed()).isGreaterThan(quorum.voters());
        assertThat(2 * (quorum.needed() - 1)).isLessThanOrEqualTo(quorum.voters());
    }

    @Property
    void itIsHeldWhileTheHealthyAreAMajority(@ForAll("quorums") Quorum quorum) {
        assertThat(quorum.isHeld()).isEqualTo(2 * quorum.healthy() > quorum.voters());
        assertThat(quorum.isHeld()).isEqualTo(quorum.tolerance() >= 0);
    }

    @Property
    void asManyAsItToleratesMayFailAndNoMore(@ForAll("quorums") Quorum quorum) {
        if (quorum.isHeld()) {
            int left = quorum.healthy() - quorum.tolerance();
            assertThat(new Quorum(quorum.voters(), left).isHeld()).isTrue();
            assertThat(new Quorum(quorum.voters(), left - 1).isHeld()).isFalse();
        }
    }

    @Property
    void removingADeadVoterNeverCostsTheQuorum(@ForAll("quorums") Quorum quorum) {
        if (quorum.isHeld() && quorum.healthy() < quorum.voters()) {
            Quorum after = quorum.minusVoter(false);
            assertThat(after.isHeld()).isTrue();
            assertThat(after.tolerance()).isGreaterThanOrEqualTo(quorum.tolerance());
        }
    }

    @Property
    void aHealthyVoterMoreNeverCostsTheQuorum(@ForAll("quorums") Quorum quorum) {
        Quorum after = quorum.plusVoter(true);
        assertThat(after.tolerance()).isGreaterThanOrEqualTo(quorum.tolerance());
        assertThat(after.minusVoter(true)).isEqualTo(quorum);
    }

    @Property
    void anEvenSizeToleratesNoMoreThanTheOddOneBelow(@ForAll("quorums") Quorum quorum) {
        if (quorum.voters() % 2 == 0) {
            int voters = quorum.voters();
            assertThat(new Quorum(voters, voters).tolerance())
                    .isEqualTo(new Quorum(voters - 1, voters - 1).tolerance());
        }
    }

    /** A dead voter that is removed, and a healthy one that takes its place, in this order, need no vote more. */
    @Property
    void replacingADeadVoterNeverNeedsMoreVotesThanBefore(@ForAll("quorums") Quorum quorum) {
        if (quorum.isHeld() && quorum.healthy() < quorum.voters()) {
            Quorum removed = quorum.minusVoter(false);
            Quorum replaced = removed.plusVoter(true);
            assertThat(removed.needed()).isLessThanOrEqualTo(quorum.needed());
            assertThat(replaced.needed()).isEqualTo(quorum.needed());
            assertThat(replaced.tolerance()).isEqualTo(quorum.tolerance() + 1);
        }
    }

    @Provide
    static Arbitrary<Quorum> quorums() {
        return Arbitraries.integers().between(1, 20).flatMap(voters -> Arbitraries.integers()
                .between(0, voters)
                .map(healthy -> new Quorum(voters, healthy)));
    }
}
