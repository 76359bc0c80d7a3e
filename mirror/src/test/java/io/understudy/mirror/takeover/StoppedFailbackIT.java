package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A failback that can't be: before it lets clients write to the old source, or else not without saying so. */
@Tag("takeover")
final class StoppedFailbackIT {

    private static final HandoverOptions STRICT =
            HandoverOptions.DEFAULTS.within(Duration.ofSeconds(30), Duration.ofSeconds(20));

    /** In place of whatever stops it once the old source can be written. */
    private static final HandoverListener STOPPING = new HandoverListener() {
        @Override
        public void ends(StepPlan step) {
            if (step.name().equals("mirror")) {
                throw new TakeOverException("stopped");
            }
        }
    };

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private Drill drill;

    @BeforeEach
    void beginEmpty() {
        drill = Drill.of(CLUSTERS, 100);
        source.put("/a", "1");
    }

    @AfterEach
    void disconnect() {
        drill.close();
    }

    @Test
    void isRefusedWhileTheOldSourceIsFrozenIfItsWatchersWouldHearNothing() {
        drill.switchOver();
        while (target.revision() <= source.revision()) {
            target.put("/b", "more");
        }

        assertThatThrownBy(() -> drill.failback(STRICT, HandoverListener.NONE).run())
                .hasMessageContaining("the old source is at revision")
                .hasMessageContaining("--accept-silent-watchers")
                .hasMessageNotContaining("init-target")
                .hasMessageNotContaining("not frozen");
        assertFrozen();
        assertThatThrownBy(() -> drill.failback(STRICT, HandoverListener.NONE).undo())
                .hasMessageContaining("nothing to undo");
        assertThat(drill.failback().run().loss()).isEqualTo("none");
    }

    @Test
    void isRefusedWhileTheOldSourceIsFrozenIfTheNewHomeCanNotBe() {
        drill.switchOver();
        assertThatThrownBy(() -> drill.failback(Drill.OPTIONS.with(FreezeMode.AUTH), HandoverListener.NONE)
                        .run())
                .hasMessageContaining("authentication is not enabled at the new home");
        assertFrozen();
    }

    @Test
    void isRefusedWhileTheOldSourceIsFrozenIfThatIsAnotherMirrorsHome() {
        ClusterId here = id(source);
        ByteString key = ReservedKeys.home("in");
        Home moved = new Home("in", here, new ClusterId(7), here, MirrorScope.prefix("/a"), 1, Instant.now());
        source.put(key.toStringUtf8(), moved.encode());
        drill.switchOver();

        assertThatThrownBy(() -> drill.failback().run())
                .hasMessageContaining("the old source")
                .hasMessageContaining("fail back mirror in first");
        assertFrozen();
        source.delete(key.toStringUtf8());
        assertThat(drill.failback().run().loss()).isEqualTo("none");
    }

    @Test
    void isRefusedBeforeAnythingIsDoneIfMoreWouldBeDeletedThanMayBe() {
        limit(10);
        putKeys(7);
        drill.failOver();
        source.put("/own1", "never mirrored");
        source.put("/own2", "never mirrored");
        List<String> begun = new ArrayList<>();
        HandoverListener listener = new HandoverListener() {
            @Override
            public void begins(StepPlan step) {
                begun.add(step.name());
            }
        };

        for (ThrowingCallable refused : List.<ThrowingCallable>of(
                () -> drill.check(), () -> drill.failback(listener).run())) {
            assertThatThrownBy(refused)
                    .hasMessageContaining("would delete 2 of the 9 keys that the old source [")
                    .hasMessageContaining("such as \"/own1\", \"/own2\"")
                    .hasMessageContaining("maxPrunePercent allows 10 percent")
                    .hasMessageEndingWith("run failback again");
        }
        assertThat(begun).isEmpty();
        assertThat(source.get(ReservedKeys.checkpoint("dr")).getKvsList())
                .as("of the mirror back")
                .isEmpty();
        limit(100);
        assertThat(drill.failback().run().loss()).startsWith("2 keys");
    }

    @Test
    void isRefusedWhileTheOldSourceIsFrozenIfTheNewHomeHasDeletedMoreThanMayBe_butNotForLess() {
        limit(10);
        putKeys(10);
        drill.switchOver();
        target.delete("/k1");
        drill.check();
        target.delete("/k2");
        assertThatThrownBy(() -> drill.failback().run()).hasMessageContaining("would delete 2 of the 10 keys");
        assertFrozen();
        target.put("/k2", "back again");
        assertThat(drill.failback().run().loss()).isEqualTo("none");
    }

    @Test
    void liftsWhatAnEarlierRunHasFrozenBeforeItsLimitStopsIt() {
        limit(10);
        putKeys(9);
        drill.failOver();
        HandoverListener stray = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("drain")) {
                    source.put("/stray1", "by a client that comes back too early");
                    source.put("/stray2", "by that one, too");
                }
            }
        };
        assertThatThrownBy(() -> drill.failback(stray).run())
                .hasMessageContaining("/stray1")
                .hasMessageContaining("is frozen meanwhile, and takes no writes of clients");
        assertThatThrownBy(() -> drill.failback().run()).hasMessageContaining("would delete 2 of 11 keys");
        target.put("/k1", "by a client of the home");
    }

    @Test
    void findsWhatWouldBeDeletedAmongMoreKeysThanComeAtATime() {
        limit(0);
        putKeys(1_100);
        drill.switchOver();
        drill.check();
        target.delete("/k999");
        assertThatThrownBy(() -> drill.check())
                .hasMessageContaining("would delete 1 of the 1100 keys")
                .hasMessageContaining("such as \"/k999\"");
    }

    @Test
    void oneThatFindsMoreToDeleteOnceItHasBegunSaysWhereTheHomeIs() {
        limit(10);
        putKeys(7);
        drill.failOver();
        HandoverListener stray = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("thaw")) {
                    source.put("/own1", "by a client unaware of the failover");
                    source.put("/own2", "by that one, too");
                }
            }
        };
        assertThatThrownBy(() -> drill.failback(stray).run())
                .hasMessageStartingWith("the mirror back failed: ")
                .hasMessageContaining("would delete 2 of 9 keys in the former primary")
                .hasMessageContaining("then increase maxPrunePercent. The home still is target [")
                .hasMessageNotContaining("frozen")
                .hasMessageEndingWith("Run failback again to continue");
        assertThatThrownBy(() -> drill.failback().undo())
                .hasMessageContaining("nothing to undo")
                .hasMessageContaining("the home still is target [");
        limit(100);
        assertThat(drill.failback().run().loss()).startsWith("2 keys");
    }

    @Test
    void oneThatIsStoppedLaterSaysWhatThatLeavesAndUndoFreezesAgain() {
        drill.switchOver();
        assertThat(switchover().next().toString()).contains("the source stays frozen (alarm)");

        assertThatThrownBy(() -> drill.failback(STOPPING).run())
                .hasMessageStartingWith("stopped. The home still is target [")
                .hasMessageContaining("the old source [")
                .hasMessageContaining("not frozen any more");
        source.put("/late", "will be lost");
        HandoverReport again = switchover();
        assertThat(again.loss()).contains("what is written there will be lost");
        assertThat(again.next().toString())
                .contains("the source is not frozen any more", "failback\" to its end")
                .doesNotContain("stays frozen");

        assertThat(drill.failback().undoPlan()).extracting(StepPlan::name).containsExactly("thaw");
        assertThat(drill.failback().undo()).extracting(StepPlan::name).containsExactly("thaw");
        assertFrozen();
        assertThat(switchover().next().toString()).contains("the source stays frozen (alarm)");

        var unused = drill.failback().run();
        assertThat(target.contents()).isEqualTo(source.contents()).hasSize(1);
    }

    @Test
    void anEndedOneLeavesNothingToUndo() {
        drill.switchOver();
        assertThat(drill.failback().run().loss()).isEqualTo("none");
        assertThatThrownBy(() -> drill.failback().undo())
                .hasMessageContaining("nothing to undo")
                .hasMessageContaining("switchover");
    }

    /** Of the old source's keys, how many a mirror back may delete. */
    private void limit(int percent) {
        drill.close();
        drill = Drill.of(CLUSTERS, percent);
    }

    /** So many, with the one that there is. */
    private void putKeys(int count) {
        IntStream.range(1, count).forEach(i -> source.put("/k" + i, "1"));
    }

    private void assertFrozen() {
        assertThatThrownBy(() -> source.put("/a", "2"))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("database space exceeded");
    }

    private HandoverReport switchover() {
        return drill.switchover(HandoverListener.NONE).run();
    }

    private static ClusterId id(TestClient cluster) {
        return new ClusterId(
                cluster.get(ByteString.copyFromUtf8("any")).getHeader().getClusterId());
    }
}
