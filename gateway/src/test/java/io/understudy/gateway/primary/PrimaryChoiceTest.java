package io.understudy.gateway.primary;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.gateway.primary.PrimaryChoice.Move;
import io.understudy.gateway.primary.PrimaryChoice.Seen;
import io.understudy.gateway.primary.PrimaryChoice.Side;
import io.understudy.gateway.primary.PrimaryChoice.Writes;
import io.understudy.gateway.primary.PrimaryRecord.Phase;
import io.understudy.gateway.primary.PrimaryRecord.Scope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import org.junit.jupiter.api.Test;

/** Tests invariant G3. */
final class PrimaryChoiceTest {

    private static final ClusterId SOURCE = new ClusterId(1);
    private static final ClusterId STANDBY = new ClusterId(2);

    private final PrimaryChoice choice = new PrimaryChoice();

    @Test
    void staysWithoutARecord() {
        assertThat(choice.side()).isEqualTo(Side.SOURCE);
        assertThat(choice.writes()).isEqualTo(Writes.OPEN);
    }

    @Test
    void followsASwitchover() {
        assertThat(choice.seen(atSource(10, SOURCE, 0, Phase.STEADY))).isNull();
        assertThat(choice.seen(atStandby(20, SOURCE, 0, Phase.STEADY))).isNull();
        assertThat(choice.seen(atSource(11, SOURCE, 0, Phase.CLOSING))).isNull();
        assertThat(choice.writes()).isEqualTo(Writes.CLOSING);

        assertThat(choice.seen(atStandby(30, STANDBY, 1, Phase.MOVED)))
                .isEqualTo(new Move(Side.STANDBY, STANDBY, new Revision(30), new Revision(7)));
        assertThat(choice.writes()).isEqualTo(Writes.OPEN);
        assertThat(choice.seen(atSource(12, STANDBY, 1, Phase.STEADY))).isNull();
        assertThat(choice.seen(atStandby(31, STANDBY, 1, Phase.STEADY))).isNull();
        assertThat(choice.side()).isEqualTo(Side.STANDBY);
    }

    @Test
    void aMoveThatIsUndoneOpensTheSameClusterAgain() {
        choice.seen(atSource(11, SOURCE, 0, Phase.CLOSING));
        choice.seen(atSource(12, SOURCE, 0, Phase.STEADY));
        assertThat(choice.writes()).isEqualTo(Writes.OPEN);
        assertThat(choice.side()).isEqualTo(Side.SOURCE);
    }

    @Test
    void neverGoesBackToALowerEpoch_norToTheSameOneElsewhere() {
        choice.seen(atStandby(30, STANDBY, 3, Phase.STEADY));
        assertThat(choice.seen(atSource(90, SOURCE, 2, Phase.STEADY))).isNull();
        assertThat(choice.seen(atSource(91, SOURCE, 3, Phase.STEADY))).isNull();
        assertThat(choice.side()).isEqualTo(Side.STANDBY);
        assertThat(choice.seen(atSource(92, SOURCE, 4, Phase.MOVED))).isNotNull();
    }

    @Test
    void aRecordCountsOnlyAtTheClusterThatItNames() {
        assertThat(choice.seen(atSource(10, STANDBY, 5, Phase.STEADY))).isNull();
        assertThat(choice.side()).isEqualTo(Side.SOURCE);
        assertThat(choice.seen(atStandby(30, STANDBY, 5, Phase.STEADY))).isNotNull();
    }

    @Test
    void withoutTheRecordOfTheMoveItselfNoRevisionIsTranslated() {
        choice.seen(atSource(10, SOURCE, 0, Phase.STEADY));
        assertThat(choice.seen(atStandby(31, STANDBY, 1, Phase.STEADY)))
                .isEqualTo(new Move(Side.STANDBY, STANDBY, new Revision(31), Revision.ZERO));
    }

    @Test
    void writesWaitUntilAClosedClusterIsOpenedAfterTheMove() {
        choice.seen(new Seen(
                Side.STANDBY,
                STANDBY,
                new Revision(30),
                new PrimaryRecord(STANDBY, 1, Phase.MOVED, 7, true, Scope.ALL)));
        assertThat(choice.writes()).isEqualTo(Writes.OPENING);
        choice.seen(atStandby(31, STANDBY, 1, Phase.STEADY));
        assertThat(choice.writes()).isEqualTo(Writes.OPEN);
    }

    @Test
    void aStartAfterAMoveTakesItFromTheRecord() {
        choice.seen(atSource(50, SOURCE, 0, Phase.STEADY));
        assertThat(choice.movedAt()).isZero();
        choice.seen(atStandby(31, STANDBY, 1, Phase.STEADY));
        assertThat(choice.movedAt()).isEqualTo(31);
        assertThat(choice.former()).isEqualTo(7);
        choice.seen(atStandby(40, STANDBY, 1, Phase.CLOSING));
        assertThat(choice.movedAt()).isEqualTo(31);
        choice.seen(atSource(60, SOURCE, 2, Phase.MOVED));
        assertThat(choice.movedAt()).isEqualTo(60);
    }

    @Test
    void theFirstPrimaryHasNoFormerOne_norIsTheMarkerOfTheNextMoveOne() {
        choice.seen(atSource(50, SOURCE, 0, Phase.CLOSING));
        assertThat(choice.movedAt()).isZero();
        assertThat(choice.former()).isZero();
    }

    private static Seen atSource(long revision, ClusterId primary, long epoch, Phase phase) {
        return new Seen(
                Side.SOURCE,
                SOURCE,
                new Revision(revision),
                new PrimaryRecord(primary, epoch, phase, 7, false, Scope.ALL));
    }

    private static Seen atStandby(long revision, ClusterId primary, long epoch, Phase phase) {
        return new Seen(
                Side.STANDBY,
                STANDBY,
                new Revision(revision),
                new PrimaryRecord(primary, epoch, phase, 7, false, Scope.ALL));
    }
}
