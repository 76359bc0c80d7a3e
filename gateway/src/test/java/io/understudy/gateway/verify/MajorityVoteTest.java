package io.understudy.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.gateway.verify.MajorityVote.Verdict;
import io.understudy.gateway.verify.MajorityVote.Votes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Decisions by the entries of the voting members. */
final class MajorityVoteTest {

    @Test
    void aMajorityOfAllVotingMembersDecides() {
        assertThat(verdict(3, 2, 1)).isEqualTo(Verdict.REPLICA);
        assertThat(verdict(3, 1, 2)).isEqualTo(Verdict.SOURCE);
        assertThat(verdict(1, 0, 1)).isEqualTo(Verdict.SOURCE);
    }

    @Test
    void noVotesTooFewOrATieAreUndecided() {
        assertThat(verdict(3, 0, 0)).isEqualTo(Verdict.UNDECIDED);
        assertThat(verdict(3, 0, 1)).isEqualTo(Verdict.UNDECIDED);
        assertThat(verdict(3, 1, 0)).isEqualTo(Verdict.UNDECIDED);
        assertThat(verdict(4, 2, 2)).isEqualTo(Verdict.UNDECIDED);
        assertThat(verdict(0, 0, 0)).isEqualTo(Verdict.UNDECIDED);
    }

    private static Verdict verdict(int voters, int agreeing, int differing) {
        return new Votes(voters, agreeing, differing, List.of()).verdict();
    }
}
