package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.pipeline.Conflict;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every request of a switchover is cut, before and after it is delivered; the command is killed there, or sees an error once,
 * or loses that cluster. Clients write at both sides after each request, and a mirror relays.
 *
 * <p>Tests invariant M37.
 */
final class SwitchoverFaultsTest {

    private static final MirrorScope SCOPE = MirrorScope.prefix("/app/");
    private static final TakeOverOptions OPTIONS =
            TakeOverOptions.DEFAULTS.acceptingSilentWatchers().within(Duration.ZERO, Duration.ZERO);

    /** What happens at a request. */
    private enum Fault {
        KILLED,
        ERROR,
        LOST
    }

    /** What an operator does next. */
    private enum Next {
        AGAIN,
        UNDO
    }

    /** The command's process is killed. */
    private static final class Killed extends Error {}

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void atMostOneSideAcknowledgesAfterAnyKillAndNoWriteIsLost(Way way) {
        cutEverywhere(way, way == Way.ROLES, List.of(Fault.KILLED));
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    @Tag("takeover")
    void atMostOneSideAcknowledgesAfterAnyCutAndNoWriteIsLost(Way way) {
        cutEverywhere(way, false, List.of(Fault.values()));
        cutEverywhere(way, true, List.of(Fault.values()));
    }

    private static void cutEverywhere(Way way, boolean closedBefore, List<Fault> faults) {
        World whole = new World(way, closedBefore);
        assertThat(whole.switchover(OPTIONS).run().loss()).isEqualTo(TakeOverReport.NONE);
        whole.assertMoved();
        int requests = whole.requests;
        assertThat(requests).isGreaterThan(20);
        for (int cut = 1; cut <= requests; cut++) {
            for (Fault fault : faults) {
                for (boolean delivered : new boolean[] {false, true}) {
                    run(new World(way, closedBefore), cut, fault, delivered, Next.AGAIN);
                    if (fault == Fault.KILLED) {
                        run(new World(way, closedBefore), cut, fault, delivered, Next.UNDO);
                    }
                }
            }
        }
    }

    private static void run(World world, int cut, Fault fault, boolean delivered, Next next) {
        world.cut(cut, fault, delivered);
        String shown = "%s at request %d, delivered %s, then %s".formatted(fault, cut, delivered, next);
        try {
            var unused = world.switchover(OPTIONS).run();
        } catch (Killed e) {
            world.trace.add("killed");
        } catch (TakeOverException e) {
            world.assertMoveIsNamed(shown, e);
        }
        world.heal();
        if (next == Next.UNDO) {
            try {
                world.trace.add(world.switchover(OPTIONS).undo().summary());
                assertThat(world.source.isOpen("/app/k"))
                        .as(shown + world.trace)
                        .isTrue();
            } catch (TakeOverException e) {
                world.trace.add(String.valueOf(e.getMessage()));
            }
        }
        try {
            assertThat(world.switchover(OPTIONS).run().loss())
                    .as(shown + world.trace)
                    .isEqualTo(TakeOverReport.NONE);
        } catch (TakeOverException e) {
            assertThat(e).as(shown + world.trace).hasMessageContaining("is the primary of mirror dr already");
        }
        try {
            world.assertMoved();
        } catch (AssertionError e) {
            throw new AssertionError(shown + world.trace + ": " + e.getMessage(), e);
        }
    }

    /** Tests fault: the target is lost, so the source has to be opened without it. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aForcedUndoOpensTheSourceUnderAHigherEpochAlthoughTheTargetIsLost(Way way) {
        World world = new World(way, false);
        World counted = new World(way, false);
        var unused = counted.switchover(OPTIONS).run();
        int move = counted.requestOf("the primary record", counted.target);
        world.cut(move, Fault.KILLED, true);
        try {
            var unusedReport = world.switchover(OPTIONS).run();
        } catch (Killed e) {
            world.trace.add("killed");
        }
        world.heal();
        world.lost = world.target;
        world.gone = true;
        assertThat(world.switchover(new TakeOverOptions(way, true, true, 1_000, Duration.ZERO, Duration.ZERO))
                        .undo()
                        .summary())
                .contains("is open again");
        assertThat(world.source.isOpen("/app/k")).isTrue();
        world.lost = null;
        assertThat(world.records(world.source).read().epoch())
                .isGreaterThan(world.records(world.target).read().epoch());
        world.disputed = true;
        assertThat(world.former(world.target, world.source).close()).isPresent();
        assertThat(world.target.isOpen("/app/k"))
                .as("the target, which returned")
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aReturningFormerPrimaryIsClosedAndItsWritesAreReported(Way way) {
        int requests = returned(way, 0, Fault.ERROR, false);
        assertThat(requests).isGreaterThan(10);
        for (int cut = 1; cut <= requests; cut++) {
            for (Fault fault : Fault.values()) {
                var unusedLost = returned(way, cut, fault, false);
                var unusedDelivered = returned(way, cut, fault, true);
            }
        }
    }

    /** Returns how many requests closed it. */
    private static int returned(Way way, int cut, Fault fault, boolean delivered) {
        World world = new World(way, false);
        String shown = "%s at request %d, delivered %s".formatted(fault, cut, delivered);
        world.disputed = true;
        world.lost = world.source;
        var unused = world.failover(OPTIONS).run();
        world.lost = null;
        assertThat(world.source.clientPuts("/app/late", "1")).isTrue();
        FormerPrimary former = world.former(world.source, world.target);
        int before = world.requests;
        world.cut(cut == 0 ? 0 : before + cut, fault, delivered);
        try {
            var unusedReason = former.close();
        } catch (Killed e) {
            former = world.former(world.source, world.target);
        } catch (TakeOverException e) {
            world.trace.add(String.valueOf(e.getMessage()));
        }
        int requests = world.requests - before;
        world.heal();
        assertThat(former.close()).as(shown + world.trace).hasValueSatisfying(conflict -> {
            assertThat(conflict.isMoving()).isFalse();
            assertThat(conflict.reason())
                    .contains("target with epoch 1, source with epoch 0", "is closed", "understudy mirror rejoin");
        });
        assertThat(former.warnings()).as(shown).hasSize(1);
        assertThat(former.warnings().get(0)).as(shown).contains("\"/app/late\"");
        assertThat(world.source.isOpen("/app/k")).as(shown).isFalse();
        assertThat(world.source.keepsAlive("/app/k"))
                .as(shown + ": locks are held at the primary")
                .isFalse();
        assertThat(world.rejoin(OPTIONS).plan()).as(shown).hasSize(3);
        assertThat(world.rejoin(OPTIONS).run().lost()).as(shown).contains("\"/app/late\"");
        assertEnds(former);
        assertThat(former.warnings()).as(shown).isEmpty();
        world.disputed = false;
        world.assertMoved();
        return requests;
    }

    /** The mirror looks once a second. */
    private static void assertEnds(FormerPrimary former) {
        if (former.close().isPresent()) {
            assertThat(former.close()).as("second look").isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConflictCostsOneRequestPerCheckAndItsEndIsDetected(boolean isTargetChosen) {
        World world = new World(Way.ROLES, false);
        world.claimTarget();
        world.quiet = true;
        FormerPrimary former = world.former(world.source, world.target);
        assertThat(former.close()).isPresent();
        world.quiet = false;
        int before = world.requests;
        for (int look = 0; look < 20; look++) {
            assertThat(former.close())
                    .hasValueSatisfying(each -> assertThat(each.reason()).contains("--primary"));
        }
        assertThat(world.requests - before).isEqualTo(20);
        assertThat(world.names.subList(before, world.requests))
                .as("the operator may choose either")
                .contains("source a read of the primary record", "target a read of the primary record");
        FakeCluster chosen = isTargetChosen ? world.target : world.source;
        FakeCluster other = isTargetChosen ? world.source : world.target;
        var unused = world.rejoin(other, chosen, OPTIONS.forced()).run();
        assertEnds(former);
    }

    @Test
    void aFormerPrimaryThatMayNotBeClosedIsNamedWithTheCommand() {
        World world = new World(Way.AUTH_ENABLE, false);
        world.disputed = true;
        world.lost = world.source;
        var unused = world.failover(OPTIONS, Way.ROLES).run();
        world.lost = null;
        FormerPrimary former = world.former(world.source, world.target);
        assertThat(former.close()).hasValueSatisfying(conflict -> assertThat(conflict.reason())
                .contains("accepts client writes", "authentication is not enabled", "understudy mirror rejoin"));
        assertThat(world.source.isOpen("/app/k")).isTrue();
        int before = world.requests;
        for (int look = 0; look < 20; look++) {
            assertThat(former.close()).isPresent();
        }
        assertThat(world.requests - before)
                .as("tried again at every tenth look")
                .isLessThan(60);
    }

    /** Both records name their own cluster until the former primary has stored the move: its command holds the lock. */
    @Test
    void twoPrimariesAreNoConflictWhileACommandMovesTheRole_butOnceItWasKilled() {
        World world = new World(Way.ROLES, false);
        List<Conflict> during = new ArrayList<>();
        world.meanwhile = () -> {
            during.add(world.former(world.source, world.target).close().orElseThrow());
            throw new Killed();
        };
        world.meanwhileAt = "open";
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        assertThat(during).singleElement().satisfies(conflict -> {
            assertThat(conflict.isMoving()).isTrue();
            assertThat(conflict.reason()).contains("host test, pid 1, step move");
        });
        world.heal();
        assertThat(world.former(world.source, world.target).close()).hasValueSatisfying(conflict -> {
            assertThat(conflict.isMoving()).isFalse();
            assertThat(conflict.reason())
                    .contains("target with epoch 1, source with epoch 0", "switchover or failback");
        });
        assertThat(world.former(world.target, world.source).close())
                .as("of the other direction")
                .isEmpty();
        world.meanwhile = null;
        var unused = world.switchover(OPTIONS).run();
        assertThat(world.former(world.source, world.target).close()).isEmpty();
        world.assertMoved();
    }

    /** Such as after a snapshot was restored: only the operator can decide which side is right. */
    @Test
    void theOperatorChoosesAmongTwoPrimariesOfEqualEpochs() {
        int requests = equal(0, false);
        assertThat(requests).isGreaterThan(10);
        for (int cut = 1; cut <= requests; cut++) {
            var unusedLost = equal(cut, false);
            var unusedDelivered = equal(cut, true);
        }
    }

    /** Returns how many requests the command made. */
    private static int equal(int cut, boolean delivered) {
        String shown = "at request %d, delivered %s".formatted(cut, delivered);
        World world = new World(Way.ROLES, false);
        world.claimTarget();
        assertThat(world.source.clientPuts("/app/late", "1")).isTrue();
        FormerPrimary former = world.former(world.source, world.target);
        assertThat(former.close()).hasValueSatisfying(conflict -> {
            assertThat(conflict.isMoving()).isFalse();
            assertThat(conflict.reason())
                    .contains("target with epoch 0, source with epoch 0", "rejoin\" with --primary source or");
        });
        assertThat(world.source.isOpen("/app/k")).as("not chosen yet").isTrue();
        assertThatThrownBy(() -> world.rejoin(OPTIONS).run()).hasMessageContaining("--primary target");
        int before = world.requests;
        world.cut(cut == 0 ? 0 : before + cut, Fault.KILLED, delivered);
        List<String> lost = new ArrayList<>();
        try {
            lost.addAll(world.rejoin(OPTIONS.forced()).run().lost());
        } catch (Killed e) {
            world.trace.add("killed");
        }
        int requests = world.requests - before;
        world.heal();
        if (lost.isEmpty()) {
            try {
                lost.addAll(world.rejoin(OPTIONS.forced()).run().lost());
            } catch (TakeOverException e) {
                assertThat(e).as(shown).hasMessageContaining("nothing to rejoin");
                lost.add("\"/app/late\"");
            }
        }
        assertThat(lost).as(shown).contains("\"/app/late\"");
        assertThat(world.names).as(shown).contains("source all keys");
        assertThat(world.records(world.source).read().epoch()).isOne();
        world.disputed = false;
        world.assertMoved();
        return requests;
    }

    /** Each operator reaches one cluster alone: one undoes a switchover by force, the other fails over. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theOperatorResolvesAConflictOfAForcedUndoAndAFailover(boolean isTargetChosen) {
        int requests = beside(isTargetChosen, 0, false);
        assertThat(requests).isGreaterThan(10);
        for (int cut = 1; cut <= requests; cut++) {
            var unusedLost = beside(isTargetChosen, cut, false);
            var unusedDelivered = beside(isTargetChosen, cut, true);
        }
    }

    /** Returns how many requests the command made. */
    private static int beside(boolean isTargetChosen, int cut, boolean delivered) {
        String shown = "at request %d, delivered %s".formatted(cut, delivered);
        World world = new World(Way.ROLES, false);
        forcedUndo(world, false);
        world.lost = world.source;
        var unusedReport = world.failover(OPTIONS).run();
        world.lost = null;
        world.quiet = true;
        assertThat(world.records(world.source).read().epoch()).isEqualTo(2);
        assertThat(world.records(world.target).read().epoch()).isOne();
        assertThat(world.source.clientPuts("/app/undone", "1")).isTrue();
        assertThat(world.target.clientPuts("/app/failed-over", "1")).isTrue();

        FormerPrimary former = world.former(world.target, world.source);
        assertThat(former.close()).as(shown).hasValueSatisfying(conflict -> {
            assertThat(conflict.isMoving()).isFalse();
            assertThat(conflict.reason())
                    .contains("source with epoch 2, target with epoch 1", "rejoin\" with --primary source or");
        });
        assertThat(former.warnings()).isEmpty();
        assertThat(world.source.isOpen("/app/k")).as("not chosen yet").isTrue();
        assertThat(world.target.isOpen("/app/k")).as("not chosen yet").isTrue();
        assertThatThrownBy(
                        () -> world.rejoin(world.target, world.source, OPTIONS).run())
                .hasMessageContaining("--primary target");
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).hasMessageContaining("--primary target");
        assertThatThrownBy(() -> world.failback().run()).hasMessageContaining("--primary target");
        for (FakeCluster to : List.of(world.source, world.target)) {
            FakeCluster from = to == world.source ? world.target : world.source;
            assertThatThrownBy(() -> world.failover(from, to, OPTIONS).run()).hasMessageContaining("--primary target");
        }

        FakeCluster chosen = isTargetChosen ? world.target : world.source;
        FakeCluster other = isTargetChosen ? world.source : world.target;
        world.quiet = false;
        int before = world.requests;
        world.cut(cut == 0 ? 0 : before + cut, Fault.KILLED, delivered);
        List<String> lost = new ArrayList<>();
        try {
            lost.addAll(world.rejoin(other, chosen, OPTIONS.forced()).run().lost());
        } catch (Killed e) {
            world.trace.add("killed");
        }
        int requests = world.requests - before;
        world.heal();
        world.quiet = true;
        if (lost.isEmpty()) {
            try {
                lost.addAll(world.rejoin(other, chosen, OPTIONS.forced()).run().lost());
            } catch (TakeOverException e) {
                assertThat(e).as(shown).hasMessageContaining("nothing to rejoin");
                lost.add("\"/app/" + (isTargetChosen ? "undone" : "failed-over") + "\"");
            }
        }
        assertThat(lost).as(shown).contains("\"/app/" + (isTargetChosen ? "undone" : "failed-over") + "\"");
        assertThat(other.isOpen("/app/k")).as(shown).isFalse();
        assertThat(chosen.isOpen("/app/k")).as(shown).isTrue();
        for (FakeCluster cluster : List.of(world.source, world.target)) {
            assertThat(world.home(cluster).cluster().value()).as(shown).isEqualTo(chosen.id);
            assertThat(world.home(cluster).moves()).as(shown).isEqualTo(3);
        }
        return requests;
    }

    /** Of a switchover that was killed with the move, which the target got or not. */
    private static void forcedUndo(World world, boolean moved) {
        World counted = new World(Way.ROLES, false);
        var unusedReport = counted.switchover(OPTIONS).run();
        world.cut(counted.requestOf("the primary record", counted.target), Fault.KILLED, moved);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        world.disputed = true;
        world.lost = world.target;
        var unusedText = world.switchover(OPTIONS.forced()).undo();
        world.lost = null;
    }

    /** Of a run that was killed before it printed the report, not of a move long past. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theReportOfAFailoverOrForcedUndoIsRepeatedUntilTheOtherClusterIsACopy(boolean isUndo) {
        World world = new World(Way.ROLES, false);
        if (isUndo) {
            forcedUndo(world, true);
        } else {
            world.failOver();
        }
        world.quiet = true;
        FakeCluster from = isUndo ? world.target : world.source;
        FakeCluster to = isUndo ? world.source : world.target;
        Failover failover = world.failover(from, to, OPTIONS);
        assertThat(failover.plan()).singleElement().asString().contains("is the primary already", "since ");
        failover.check();
        assertThat(failover.run().loss()).as("it returned with the role").contains("all writes");
        world.quiet = false;
        world.lost = from;
        failover.check();
        assertThat(failover.run().loss()).as("it does not respond").contains("all writes");
        world.lost = null;
        var unused = world.rejoin(from, to, OPTIONS).run();
        String already = to.name + " is the primary of mirror dr already";
        assertThatThrownBy(failover::check).hasMessage(already);
        assertThatThrownBy(failover::run).hasMessage(already);
    }

    @Test
    void aFailoverThatIsRunAgainSelectsHowTheFormerPrimaryIsClosed() {
        World world = new World(Way.AUTH_ENABLE, false);
        world.disputed = true;
        world.lost = world.source;
        var unused = world.failover(OPTIONS, Way.ROLES).run();
        assertThat(world.failover(OPTIONS, Way.AUTH_ENABLE).plan()).hasSize(2);
        assertThat(world.failover(OPTIONS, Way.AUTH_ENABLE).run().next())
                .anyMatch(each -> each.contains("closes source" + " when it returns (auth-enable)"));
        world.lost = null;
        assertThat(world.former(world.source, world.target).close())
                .hasValueSatisfying(conflict -> assertThat(conflict.reason()).contains("is closed (auth-enable)"));
        assertThat(world.source.isOpen("/app/k")).isFalse();
    }

    @Test
    void aFailoverAfterAForcedUndoSelectsHowTheOtherClusterIsClosed() {
        World world = new World(Way.ROLES, false);
        forcedUndo(world, true);
        var unused = world.failover(world.target, world.source, OPTIONS.with(Way.NONE))
                .run();
        assertThat(world.former(world.target, world.source).close())
                .hasValueSatisfying(conflict -> assertThat(conflict.reason()).contains("is left open (--allow-loss)"));
    }

    /** It does not know of the switchover. */
    @Test
    void aFailoverThatCompletesASwitchoverSelectsHowARestoredFormerPrimaryIsClosed() {
        World counted = new World(Way.CORRUPT_ALARM, false);
        var unusedReport = counted.switchover(OPTIONS).run();
        World world = new World(Way.CORRUPT_ALARM, false);
        Home before = world.home(world.source);
        world.cut(counted.requestOf("the primary record", counted.target), Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        world.lost = world.source;
        var unusedOpened = world.failover(OPTIONS).run();
        world.lost = null;
        world.disputed = true;
        world.source.put(ReservedKeys.home("dr"), before.encode(), 0);
        world.source.delete(ReservedKeys.freeze("dr"));
        world.source.users.clear();
        world.source.auth = false;
        world.source.corrupt = false;
        assertThat(world.former(world.source, world.target).close())
                .hasValueSatisfying(conflict -> assertThat(conflict.reason()).contains("is closed (corrupt-alarm)"));
        assertThat(world.source.isOpen("/app/k")).isFalse();
    }

    /** The target never got the role. */
    @Test
    void aForcedUndoIsNotReportedAgainOnceTheTargetIsSeenAsACopy() {
        World world = new World(Way.ROLES, false);
        forcedUndo(world, false);
        assertThatThrownBy(() ->
                        world.failover(world.target, world.source, OPTIONS).run())
                .hasMessage("source is the primary of mirror dr already");
    }

    /** A failover that the undo has seen, or that has seen the undo, is in order with it. */
    @Test
    void aForcedUndoOutranksTheMove_andALaterFailoverOutranksTheUndo() {
        World world = new World(Way.ROLES, false);
        forcedUndo(world, true);
        world.quiet = true;
        assertThatThrownBy(() -> world.failback().run())
                .as("the undo is no move that a switchover could complete")
                .hasMessageContaining("run \"understudy mirror rejoin\"");
        FormerPrimary former = world.former(world.target, world.source);
        for (int look = 0; look < 3; look++) {
            assertThat(former.close()).hasValueSatisfying(conflict -> assertThat(conflict.reason())
                    .contains("is closed"));
        }
        assertThat(world.former(world.target, world.source).close())
                .as("another process looks")
                .hasValueSatisfying(conflict ->
                        assertThat(conflict.reason()).contains("is closed").doesNotContain("--primary"));
        assertThatThrownBy(() -> world.failover(OPTIONS.forced()).run())
                .as("its closing is no failover to complete")
                .hasMessageContainingAll("already, and closed", "understudy mirror rejoin", "--undo --force");
        assertThat(world.target.isOpen("/app/k")).isFalse();
        var unusedRejoin = world.rejoin(world.target, world.source, OPTIONS).run();
        assertEnds(former);

        World later = new World(Way.ROLES, false);
        forcedUndo(later, false);
        later.quiet = true;
        // As a mirror stores it when the target is back.
        later.target.put(
                ReservedKeys.home("dr"),
                later.home(later.target)
                        .movedTo(new ClusterId(1), later.home(later.source).moves(), Instant.now())
                        .encode(),
                0);
        var unused = later.failover(OPTIONS.forced()).run();
        assertThat(later.former(later.source, later.target).close())
                .hasValueSatisfying(conflict -> assertThat(conflict.reason()).contains("is closed"));
    }

    /** Exit status 1 means that the role has not moved, unless the message states otherwise. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFailureAfterTheMoveStatesThatTheRoleHasMoved(boolean isFailover) {
        int last = failedAfterMove(isFailover, 0);
        int failed = 0;
        for (int cut = last; cut > 0; cut--) {
            failed += failedAfterMove(isFailover, cut) == 0 ? 1 : 0;
        }
        assertThat(failed).isGreaterThanOrEqualTo(5);
    }

    /** Returns the number of requests, or 0 if the role has moved and the command failed. */
    private static int failedAfterMove(boolean isFailover, int cut) {
        World world = new World(Way.ROLES, false);
        world.disputed = isFailover;
        world.lost = isFailover ? world.source : null;
        world.cut(cut, Fault.ERROR, true);
        try {
            TakeOverReport report = isFailover
                    ? world.failover(OPTIONS).run()
                    : world.switchover(OPTIONS).run();
            assertThat(report.summary()).contains("is now target");
        } catch (TakeOverException e) {
            world.assertMoveIsNamed("request " + cut, e);
            return world.home(world.target).cluster().value() == 2 ? 0 : world.requests;
        }
        return world.requests;
    }

    /** Its keys are those of the snapshot, whatever the new primary had at the move. */
    @Test
    void aRestoredFormerPrimaryIsNoCopyAlsoAfterAnotherSwitchover() {
        World world = new World(Way.ROLES, false);
        Home before = world.home(world.source);
        var unused = world.switchover(OPTIONS).run();
        world.disputed = true;
        world.quiet = true;
        world.closing(world.source).open(closed(world));
        world.source.put(ReservedKeys.home("dr"), before.encode(), 0);
        assertThat(world.source.clientPuts("/app/late", "1")).isTrue();
        for (boolean isClosed : new boolean[] {false, true}) {
            assertThatThrownBy(() -> world.switchover(OPTIONS).check())
                    .hasMessageContaining("understudy mirror rejoin");
            assertThatThrownBy(() -> world.switchover(OPTIONS).run()).hasMessageContaining("understudy mirror rejoin");
            assertThat(world.former(world.source, world.target).close())
                    .as("closed before: %s", isClosed)
                    .hasValueSatisfying(
                            conflict -> assertThat(conflict.reason()).contains("is closed"));
        }
        assertThat(world.rejoin(OPTIONS).run().lost()).contains("\"/app/late\"");
        assertThat(world.home(world.source).cluster().value()).isEqualTo(2);
        assertThat(world.checkpoint(world.source).state()).isEqualTo(CheckpointState.SYNCING);
        world.lost = world.target;
        assertThatThrownBy(() ->
                        world.failover(world.target, world.source, OPTIONS).run())
                .hasMessageContaining("the checkpoint is syncing");
    }

    /** Tests fault: the new primary is lost right after the planned move, or during it. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void theFormerPrimaryTakesOverWithAllWritesOfBeforeThePlannedMove(Way way) {
        for (boolean isCutShort : new boolean[] {false, true}) {
            for (boolean keepsLeases : new boolean[] {false, true}) {
                int requests = movedBack(way, isCutShort, keepsLeases, 0, false);
                assertThat(requests).isGreaterThan(5);
                for (int cut = 1; cut <= requests; cut++) {
                    var unused = movedBack(way, isCutShort, keepsLeases, cut, false);
                    var unusedDelivered = movedBack(way, isCutShort, keepsLeases, cut, true);
                }
            }
        }
    }

    /** Returns how many requests the command made. */
    private static int movedBack(Way way, boolean isCutShort, boolean keepsLeases, int cut, boolean delivered) {
        String shown =
                "cut short %s, leases %s, request %d, delivered %s".formatted(isCutShort, keepsLeases, cut, delivered);
        World world = new World(way, false);
        world.keepsLeases = keepsLeases;
        switchedOver(world, isCutShort);
        Map<String, String> before = Map.copyOf(world.acknowledged);
        TakeOverOptions options = OPTIONS.with(way);
        if (isCutShort) {
            assertThatThrownBy(() -> world.failover(world.target, world.source, options.forced())
                            .run())
                    .as("while the target responds")
                    .hasMessageContaining("run that command again, or with --undo");
        } else {
            world.quiet = true;
            assertThat(world.target.clientPuts("/app/late", "1")).isTrue();
            world.quiet = false;
        }
        world.loseTarget();
        Failover failover = world.failover(world.target, world.source, options);
        assertThat(failover.plan().get(0)).startsWith(isCutShort ? "open: opens source" : "check:");
        if (!isCutShort) {
            assertThat(failover.plan().get(1)).contains(" wrote after revision ", ", as of ");
        }
        failover.check();
        int first = world.requests;
        world.cut(cut == 0 ? 0 : first + cut, Fault.KILLED, delivered);
        try {
            TakeOverReport report = failover.run();
            assertThat(report.loss())
                    .as(shown)
                    .startsWith("possible: all writes")
                    .contains(isCutShort ? "whether it had is unknown" : "of target, since ");
            assertThat(report.facts().get("data up to"))
                    .as(shown)
                    .contains(isCutShort ? "the last write that source" : "every write acknowledged before it");
        } catch (Killed e) {
            world.heal();
            world.lost = world.target;
            TakeOverReport again =
                    world.failover(world.target, world.source, options).run();
            assertThat(again.isWithoutLoss()).as(shown).isFalse();
            assertThat(again.facts().containsKey("keys lost with expired leases")
                            || again.facts().get("data up to").contains("acknowledged"))
                    .as(shown + again)
                    .isTrue();
        }
        int requests = world.requests - first;
        world.quiet = true;
        Map<String, String> held = new HashMap<>();
        before.forEach((key, value) -> held.put(
                key,
                world.source
                        .valueAt(ByteString.copyFromUtf8(key), world.source.revision())
                        .map(ByteString::toStringUtf8)
                        .orElse("")));
        held.forEach((key, value) -> assertThat(Long.parseLong(value))
                .as(shown + key)
                .isGreaterThanOrEqualTo(Long.parseLong(before.get(key))));
        assertThat(world.source.isOpen("/app/k")).as(shown).isTrue();
        assertThat(world.home(world.source).cluster().value()).as(shown).isOne();
        assertThat(world.home(world.source).moves()).as(shown).isEqualTo(2);
        assertThat(world.home(world.source).move().phase()).isEqualTo(Move.Phase.STEADY);
        world.lost = null;
        world.gone = false;
        world.disputed = true;
        if (world.home(world.target).cluster().value() == 2) {
            FormerPrimary former = world.former(world.target, world.source);
            assertThat(former.close()).hasValueSatisfying(conflict -> assertThat(conflict.reason())
                    .contains("is closed"));
            List<String> late =
                    world.rejoin(world.target, world.source, options).run().lost();
            assertThat(isCutShort || late.contains("\"/app/late\"")).as(shown).isTrue();
        }
        return requests;
    }

    /** The mirror back does not run. If it is cut short, the target has the role. */
    private static void switchedOver(World world, boolean isCutShort) {
        world.meanwhileAt = "open";
        world.meanwhile = () -> {
            world.isMirrored = false;
            if (isCutShort) {
                throw new Killed();
            }
        };
        try {
            var unused = world.switchover(OPTIONS).run();
        } catch (Killed e) {
            world.heal();
        }
    }

    @Test
    void aCopyThatIsTornRightBeforeTheMoveTakesOverByForceOnly() {
        for (boolean isForced : new boolean[] {false, true}) {
            World world = new World(Way.ROLES, false);
            world.isMirrored = false;
            world.quiet = true;
            world.lost = world.source;
            world.meanwhileAt = "move";
            world.meanwhile = () -> {
                ByteString torn = ByteString.copyFromUtf8(CheckpointCodec.encode(world.checkpoint(world.target))
                        .toStringUtf8()
                        .replace("synced", "torn"));
                world.target.put(ReservedKeys.checkpoint("dr"), torn, 0);
            };
            world.disputed = true;
            Failover failover = world.failover(isForced ? OPTIONS.forced() : OPTIONS);
            world.quiet = false;
            if (isForced) {
                assertThat(failover.run().loss()).isEqualTo("of unknown extent");
            } else {
                assertThatThrownBy(failover::run).hasMessageContaining("the checkpoint is torn");
                assertThat(world.home(world.target).cluster().value()).isOne();
            }
        }
    }

    /** As one that was restored from a backup of before the move: its keys are not those of the end marker. */
    @Test
    void aFormerPrimaryThatWasRestoredBeforeItsTurnBecomesNoCopyOfThePlannedMove() {
        World world = new World(Way.ROLES, false);
        Home before = world.home(world.source);
        switchedOver(world, true);
        world.quiet = true;
        world.disputed = true;
        world.closing(world.source).open(closed(world));
        world.source.put(ReservedKeys.home("dr"), before.encode(), 0);
        assertThat(world.source.clientPuts("/app/late", "1")).isTrue();
        TakeOverReport report = world.switchover(OPTIONS).run();
        assertThat(report.loss()).startsWith("not known").contains("understudy mirror rejoin");
        assertThat(world.former(world.source, world.target).close())
                .hasValueSatisfying(conflict -> assertThat(conflict.reason()).contains("is closed"));
        assertThat(world.rejoin(OPTIONS).run().lost()).contains("\"/app/late\"");
        assertThat(world.checkpoint(world.source).state()).isEqualTo(CheckpointState.SYNCING);
    }

    /** Its record is not that of the move, and it is no primary: all of it may be of another history. */
    @Test
    void aFormerPrimaryThatWasRebuiltBeforeItsTurnHasUnknownWrites() {
        World world = new World(Way.ROLES, false);
        Home before = world.home(world.source);
        switchedOver(world, true);
        world.quiet = true;
        world.source.put(
                ReservedKeys.home("dr"),
                before.movedTo(new ClusterId(2), 0, Instant.EPOCH).encode(),
                0);
        assertThat(world.switchover(OPTIONS).run().loss())
                .startsWith("not known: source")
                .contains("rebuilt");
        assertThat(world.checkpoint(world.source).state()).isEqualTo(CheckpointState.SYNCING);
    }

    /** etcd 3.5 lets deletes pass under that alarm: the mirror has to find them, also once it is disarmed. */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void aFormerPrimaryThatWasNotClosedIsNoCopy(boolean isKilled, boolean isDisarmedBefore) {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = "move";
        world.meanwhile = () -> {
            world.isMirrored = false;
            world.source.clientDeletes(ByteString.copyFromUtf8("/app/0"));
            world.target.put(ByteString.copyFromUtf8("/app/1"), ByteString.copyFromUtf8("foreign"), 0);
            world.source.full = !isDisarmedBefore;
            world.disputed = true;
        };
        if (isKilled) {
            World counted = new World(Way.ROLES, false);
            var unused = counted.switchover(OPTIONS).run();
            world.cut(counted.requestOf("the primary record", counted.target), Fault.KILLED, true);
            assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
            world.heal();
        }
        if (!isDisarmedBefore) {
            assertThat(world.switchover(OPTIONS).run().loss()).startsWith("not known: ");
            world.source.full = false;
        }
        assertThat(world.switchover(OPTIONS).run().lost()).containsExactlyInAnyOrder("\"/app/0\"", "\"/app/1\"");
        assertThat(world.checkpoint(world.source).state()).isEqualTo(CheckpointState.SYNCING);
    }

    /** Clients may write there. */
    @ParameterizedTest
    @EnumSource(
            value = EtcdError.class,
            names = {"PERMISSION_DENIED", "LOGIN_FAILED", "USER_EMPTY"})
    void aClusterThatRefusesTheUserOfTheCommandResponds(EtcdError refusal) {
        World world = new World(Way.ROLES, false);
        switchedOver(world, true);
        world.target.user = "app";
        world.target.refusal = refusal;
        assertThatThrownBy(() ->
                        world.failover(world.target, world.source, OPTIONS).run())
                .hasMessageContaining("target responds: run that command again");
        assertThatThrownBy(() -> world.switchover(OPTIONS.forced()).checkUndo())
                .hasMessageContaining(refusal.message());
        assertThatThrownBy(() -> world.switchover(OPTIONS.forced()).undo()).hasMessageContaining(refusal.message());
        assertThat(world.source.isOpen("/app/k")).isFalse();
    }

    @Test
    void aLeaseThatExpiredAfterThePlannedMoveIsNamed() {
        World world = new World(Way.ROLES, false);
        switchedOver(world, false);
        world.quiet = true;
        world.source.delete(ByteString.copyFromUtf8("/app/0"));
        world.loseTarget();
        TakeOverReport report =
                world.failover(world.target, world.source, OPTIONS).run();
        assertThat(report.lost()).containsExactly("\"/app/0\"");
        assertThat(report.loss()).startsWith("keys of expired leases: 1; possible: all writes after revision");
    }

    /** Its keys are of no one moment. */
    @Test
    void aFormerPrimaryInWhichASnapshotBeganTakesOverByForceOnly() {
        World world = new World(Way.ROLES, false);
        world.keepsLeases = false;
        switchedOver(world, false);
        world.quiet = true;
        assertThat(world.checkpoint(world.source).state()).isEqualTo(CheckpointState.SYNCING);
        ByteString lane = ReservedKeys.of("dr", "lane/0");
        world.source.put(lane, ByteString.EMPTY, 0);
        Failover failover = world.failover(world.target, world.source, OPTIONS);
        world.loseTarget();
        failover.check();
        assertThatThrownBy(failover::run)
                .as("it began after the check")
                .hasMessageContaining("changed mirror dr at source meanwhile");
        Checkpoint checkpoint = world.checkpoint(world.source);
        world.source.put(
                ReservedKeys.checkpoint("dr"),
                CheckpointCodec.encode(checkpoint.marked(checkpoint.path(), Instant.now())),
                0);
        assertThatThrownBy(failover::run).hasMessageContaining("the checkpoint is syncing");
        assertThat(world.home(world.source).cluster().value()).isEqualTo(2);
        assertThat(world.failover(world.target, world.source, OPTIONS.forced())
                        .run()
                        .loss())
                .isEqualTo("of unknown extent");
    }

    @Test
    void aFormerPrimaryThatTheMirrorAdvancedTakesOverUpToItsCheckpoint() {
        World world = new World(Way.ROLES, false);
        var unusedReport = world.switchover(OPTIONS).run();
        world.assertMoved();
        world.quiet = true;
        assertThatThrownBy(() ->
                        world.failover(world.target, world.source, OPTIONS).run())
                .hasMessageContaining("responds");
        world.loseTarget();
        TakeOverReport report =
                world.failover(world.target, world.source, OPTIONS).run();
        assertThat(report.facts().get("data up to"))
                .startsWith("revision " + world.checkpoint(world.source).revision());
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    @Test
    void aForcedUndoReportsAsAFailoverToTheFormerPrimary() {
        List<TakeOverReport> reports = new ArrayList<>();
        for (boolean isUndo : new boolean[] {false, true}) {
            World world = new World(Way.ROLES, false);
            switchedOver(world, true);
            world.loseTarget();
            reports.add(
                    isUndo
                            ? world.switchover(OPTIONS.forced()).undo()
                            : world.failover(world.target, world.source, OPTIONS)
                                    .run());
        }
        assertThat(reports)
                .allSatisfy(report -> assertThat(report.isWithoutLoss()).isFalse());
        assertThat(reports.get(1))
                .usingRecursiveComparison()
                .ignoringFields("loss")
                .isEqualTo(reports.get(0));
        assertThat(reports)
                .extracting(report -> report.loss().replaceAll("since [^,]*", ""))
                .containsOnly(
                        "possible: all writes that target acknowledged , if the role had moved; whether it had is unknown");
    }

    /** The mirror stores a new record, without how the cluster was closed. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "AUTH_ENABLE"})
    void aClosedClusterWithARecordThatWasDeletedDoesNotGetTheRole(Way way) {
        World world = new World(way, false);
        var unused = world.switchover(OPTIONS).run();
        world.assertMoved();
        world.quiet = true;
        List<Permission> granted = world.target.roles.get("app");
        world.source.delete(ReservedKeys.home("dr"));
        world.source.put(
                ReservedKeys.home("dr"),
                world.home(world.target).with(Move.NONE).encode(),
                0);
        world.quiet = false;
        assertThatThrownBy(() -> world.failback().check()).hasMessageContainingAll("source was closed", "deleterange");
        assertThatThrownBy(() -> world.failback().run()).hasMessageContaining("its primary record was deleted");
        assertThat(world.target.isOpen("/app/k")).isTrue();
        world.lost = world.target;
        assertThatThrownBy(() ->
                        world.failover(world.target, world.source, OPTIONS).run())
                .hasMessageContaining("its primary record was deleted");
        world.lost = null;
        world.quiet = true;
        if (way == Way.ROLES) {
            world.source.roles.put("app", granted);
        } else {
            world.source.auth = false;
        }
        world.source.delete(ReservedKeys.freeze("dr"));
        world.quiet = false;
        world.disputed = true;
        assertThat(world.failback().run().loss()).isEqualTo(TakeOverReport.NONE);
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /** Tests invariant M14: other mirrors from it do not copy what was revoked. */
    @Test
    void theRolesOfAClosedFormerPrimaryAreMarkedUntilItIsOpened() {
        World world = new World(Way.ROLES, false);
        ByteString freeze = ReservedKeys.freeze("dr");
        world.failOver();
        assertThat(world.former(world.source, world.target).close()).isPresent();
        assertThat(world.source.valueAt(freeze, world.source.revision())).isPresent();
        world.lost = world.target;
        var unused = world.switchover(OPTIONS.forced()).undo();
        assertThat(world.source.valueAt(freeze, world.source.revision())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMoveWithoutAResponseIsReportedAsUnknown(boolean delivered) {
        World world = new World(Way.ROLES, false);
        world.failOver();
        int move = world.requestOf("the primary record", world.target);
        World cut = new World(Way.ROLES, false);
        cut.disputed = true;
        cut.lost = cut.source;
        cut.cut(move, Fault.ERROR, delivered);
        assertThatThrownBy(() -> cut.failover(OPTIONS).run())
                .hasMessageContainingAll("did not respond", "is unknown", "run the command again");
        cut.heal();
        cut.lost = cut.source;
        assertThat(cut.failover(OPTIONS).run().summary()).contains("is now target");
    }

    @Test
    void aReleaseIsRefusedAtAPrimary_andBesideOneThatDoesNotRespond() {
        World world = new World(Way.ROLES, true);
        switchedOver(world, true);
        assertThat(world.target.isOpen("/app/k")).isFalse();
        world.quiet = true;
        assertThatThrownBy(
                        () -> world.rejoin(world.source, world.target, OPTIONS).checkRelease())
                .hasMessageContaining("source is the primary, and a move of the role is unfinished");
        Rejoin ofTarget = world.rejoin(world.target, world.source, OPTIONS);
        assertThatThrownBy(ofTarget::release)
                .hasMessageContaining("target is the primary, and a move of the role is unfinished");
        assertThat(world.target.isOpen("/app/k")).isFalse();
        var unusedReport = world.switchover(OPTIONS).run();
        Lock other = world.lock("other, pid 3");
        other.take(world.records(world.target), "close");
        assertThatThrownBy(
                        () -> world.rejoin(world.source, world.target, OPTIONS).release())
                .hasMessageContaining("another command is moving mirror dr: other, pid 3");
        other.release();
        world.quiet = false;
        world.lost = world.target;
        Rejoin ofSource = world.rejoin(world.source, world.target, OPTIONS);
        assertThatThrownBy(ofSource::checkRelease).hasMessageContaining("--to source");
        assertThatThrownBy(ofSource::release).hasMessageContaining("--to source");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        world.disputed = true;
        assertThat(world.rejoin(world.source, world.target, OPTIONS.forced()).release())
                .contains("is open");
    }

    @Test
    void theCheckOfAnUndoFindsWhatWouldRefuseIt() {
        World world = new World(Way.ROLES, false);
        assertThatThrownBy(() -> world.switchover(OPTIONS).checkUndo()).hasMessageContaining("nothing to undo");
        switchedOver(world, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS.forced()).checkUndo())
                .hasMessageContaining("has moved to target");
        world.lost = world.target;
        world.switchover(OPTIONS.forced()).checkUndo();
        assertThat(world.source.isOpen("/app/k")).isFalse();
    }

    private static Move.Closed closed(World world) {
        return Objects.requireNonNull(world.home(world.source).move().closed());
    }

    /** The source has no checkpoint of the target, so the history of the target names no writes. */
    @Test
    void theSourceIsChosen_andAllKeysOfTheTargetAreCompared() {
        World world = new World(Way.ROLES, false);
        world.claimTarget();
        assertThat(world.target.clientPuts("/app/late", "1")).isTrue();
        world.quiet = true;
        TakeOverReport report =
                world.rejoin(world.target, world.source, OPTIONS.forced()).run();
        assertThat(report.lost()).contains("\"/app/late\"");
        assertThat(report.facts()).containsKey("keys that only the primary changed are listed too");
        assertThat(world.target.isOpen("/app/k")).isFalse();
        assertThat(world.source.isOpen("/app/k")).isTrue();
        for (FakeCluster cluster : List.of(world.source, world.target)) {
            Home record = world.records(cluster).read().record();
            assertThat(record).isNotNull();
            assertThat(record.cluster().value()).as(cluster.name).isEqualTo(1);
            assertThat(record.moves()).as(cluster.name).isOne();
        }
    }

    /** A rejoin of other histories may differ in each key. */
    @ParameterizedTest
    @ValueSource(ints = {LostKeys.HELD, LostKeys.HELD + 1, 3 * LostKeys.HELD})
    void allLostKeysAreCounted_theFirstAreNamed_andAFileHasAll(int keys) throws Exception {
        World world = new World(Way.ROLES, false);
        world.claimTarget();
        world.quiet = true;
        int differing = 0;
        for (ByteString each : world.target.keysBelow("/app/")) {
            world.target.delete(each);
            differing++;
        }
        while (differing++ < keys) {
            assertThat(world.source.clientPuts("/app/late/" + differing, "1")).isTrue();
        }
        TakeOverReport report = world.rejoin(OPTIONS.forced()).run();
        assertThat(report.loss()).isEqualTo(keys + " keys");
        assertThat(report.lost()).hasSize(LostKeys.HELD).doesNotHaveDuplicates();
        Path file = report.file();
        if (keys == LostKeys.HELD) {
            assertThat(file).isNull();
            return;
        }
        assertThat(file).isNotNull();
        List<String> all = Files.readAllLines(file);
        Files.delete(file);
        assertThat(all)
                .hasSize(keys)
                .doesNotHaveDuplicates()
                .startsWith(report.lost().toArray(String[]::new));
    }

    @Test
    void anUnreadableRecordIsNamed() {
        World world = new World(Way.ROLES, false);
        world.source.put(ReservedKeys.home("dr"), ByteString.copyFromUtf8("{}"), 0);
        world.quiet = true;
        FormerPrimary former = world.former(world.source, world.target);
        assertThatThrownBy(former::close)
                .isInstanceOf(TakeOverException.class)
                .hasMessageStartingWith("invalid primary record at source: ");
    }

    /** Until it is readable, the cluster cannot be opened; open, it would acknowledge writes that are lost. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aFormerPrimaryIsClosedBesideAnUnreadableRecordOfAnotherMirror(Way way) {
        World world = new World(way, false);
        world.failOver();
        world.source.put(ReservedKeys.home("other"), ByteString.copyFromUtf8("{}"), 0);
        assertThat(world.source.isOpen("/app/k")).isTrue();
        assertThat(world.former(world.source, world.target).close())
                .hasValueSatisfying(
                        conflict -> assertThat(conflict.reason()).contains("is closed (" + way.word() + ")"));
        assertThat(world.source.isOpen("/app/k")).isFalse();
        var unused = world.rejoin(OPTIONS).run();
        world.disputed = false;
        world.assertMoved();
    }

    /** Whether it keeps the cluster closed is not known, so neither could be opened. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anUnreadableRecordOfAnotherMirrorRefusesAMove(boolean isAtTarget) {
        World world = new World(Way.ROLES, false);
        FakeCluster there = isAtTarget ? world.target : world.source;
        there.put(ReservedKeys.home("other"), ByteString.copyFromUtf8("{}"), 0);
        world.quiet = true;
        Switchover move = world.switchover(OPTIONS);
        assertThatThrownBy(move::check).hasMessageContaining("home/other");
        assertThatThrownBy(move::run)
                .isInstanceOf(TakeOverException.class)
                .hasMessageContaining("invalid primary record at " + (isAtTarget ? "target" : "source"));
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /** It would move the role to a closed copy that it cannot open, and leave both clusters closed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anUnreadableRecordOfAnotherMirrorRefusesAFailoverToAClosedCopy(boolean isKilledAfterTheMove) {
        World world = new World(Way.ROLES, true);
        world.disputed = true;
        world.lost = world.source;
        if (isKilledAfterTheMove) {
            world.meanwhileAt = "open";
            world.meanwhile = () -> {
                throw new Killed();
            };
            assertThatThrownBy(() -> world.failover(OPTIONS).run()).isInstanceOf(Killed.class);
            world.heal();
        }
        world.target.put(ReservedKeys.home("other"), ByteString.copyFromUtf8("{}"), 0);
        if (isKilledAfterTheMove) {
            assertThatThrownBy(world.rejoin(OPTIONS)::plan).hasMessageContaining("home/other");
            assertThatThrownBy(world.rejoin(OPTIONS)::run).hasMessageContaining("home/other");
            assertThat(world.source.isOpen("/app/k")).isTrue();
            world.lost = world.source;
        }
        assertThatThrownBy(world.failover(OPTIONS)::check).hasMessageContaining("home/other");
        assertThatThrownBy(world.failover(OPTIONS)::run)
                .hasMessageContaining("home/other")
                .hasMessageContaining(isKilledAfterTheMove ? "has moved to target" : "");
        assertThat(world.records(world.target).read().isPrimary()).isEqualTo(isKilledAfterTheMove);
        world.target.delete(ReservedKeys.home("other"));
        var unused = world.failover(OPTIONS).run();
        assertThat(world.target.isOpen("/app/k")).isTrue();
    }

    /** Tests invariant M41: clients wrote to the former primary since a mirror into it was stopped during a snapshot. */
    @Test
    void aSnapshotThatAMirrorIntoTheFormerPrimaryLeftUnfinishedIsNotContinued() {
        World world = new World(Way.ROLES, false);
        ByteString lane = ReservedKeys.of("dr", "lane/0");
        world.source.put(lane, ByteString.EMPTY, 0);
        var unused = world.switchover(OPTIONS).run();
        assertThat(world.source.valueAt(lane, world.source.revision())).isEmpty();
    }

    /** Their owners cannot, while the source is closed. */
    @Test
    void leasesOfTheRangeAreKeptAliveDuringTheMove() {
        World world = new World(Way.ROLES, false);
        world.target.put(ReservedKeys.of("dr", "lease/7b"), ByteString.EMPTY, 0);
        world.source.grant(0x7b);
        world.source.put(ByteString.copyFromUtf8("/app/leased"), ByteString.EMPTY, 0x7b);
        var unused = world.switchover(OPTIONS).run();
        assertThat(world.names).contains("source keep-alive");
        assertThat(world.requestOf("keep-alive", world.target))
                .as("restarted before the role moves")
                .isLessThan(world.requestOf("the primary record", world.target))
                .isPositive();
    }

    /** Under the alarm no lease expires, and a keep-alive of one that should have is not answered. */
    @Test
    void aLeaseThatLapsedUnderTheAlarmOfAKilledCommandDoesNotPreventTheMove() {
        World counted = new World(Way.CORRUPT_ALARM, false);
        var unusedReport = counted.switchover(OPTIONS).run();
        for (int cut : new int[] {
            counted.requestOf("alarm ACTIVATE", counted.source), counted.requestOf("the primary record", counted.target)
        }) {
            World world = new World(Way.CORRUPT_ALARM, false);
            world.quiet = true;
            world.target.put(ReservedKeys.of("dr", "lease/7b"), ByteString.EMPTY, 0);
            world.quiet = false;
            world.cut(cut, Fault.KILLED, true);
            assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
            world.heal();
            world.source.grant(0x7b);
            world.source.lapsed.add(0x7bL);
            TakeOverReport report = world.switchover(OPTIONS).run();
            assertThat(report.loss()).isEqualTo(TakeOverReport.NONE);
            assertThat(report.next()).as("the mirror is turned round").hasSize(2);
            world.assertMoved();
        }
    }

    /** It is not resumed again until then, which may take hours. */
    @ParameterizedTest
    @ValueSource(strings = {"differ", "synced", "interrupted"})
    void aResumedSwitchoverThatFailsBeforeTheClosingOpensTheSource(String why) {
        World world = begun(Way.ROLES, true);
        world.isMirrored = false;
        switch (why) {
            case "differ" -> world.target.put(ByteString.copyFromUtf8("/app/0"), ByteString.EMPTY, 0);
            case "synced" ->
                world.target.put(
                        ReservedKeys.checkpoint("dr"),
                        CheckpointCodec.encode(Checkpoint.first(new ClusterId(1), SCOPE, "mirror", Instant.EPOCH)),
                        0);
            default -> {
                world.meanwhileAt = "compare";
                world.meanwhile = () -> {
                    throw new TakeOverException("interrupted");
                };
            }
        }
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .isInstanceOf(TakeOverException.class)
                .hasMessageContainingAll(why, "has not moved, and source is open again");
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    @Test
    void aTargetWithoutARecordIsFoundBeforeTheSourceIsClosed() {
        World world = new World(Way.ROLES, false);
        world.isMirrored = false;
        world.quiet = true;
        world.target.delete(ReservedKeys.home("dr"));
        assertThatThrownBy(() -> world.switchover(OPTIONS).check()).hasMessageContaining("no primary record");
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).hasMessageContaining("no primary record");
        assertThat(world.source.isOpen("/app/k")).isTrue();
        assertThat(world.names).doesNotContain("source the primary record");
    }

    /** The moving transaction compares the record. */
    @ParameterizedTest
    @ValueSource(strings = {"drain", "move"})
    void theSourceOpensIfTheTargetLosesItsRecordMeanwhile(String step) {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = step;
        world.meanwhile = () -> {
            world.quiet = true;
            world.isMirrored = false;
            world.target.delete(ReservedKeys.home("dr"));
        };
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .isInstanceOf(TakeOverException.class)
                .hasMessageContaining("has not moved, and source is open again");
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /** Such as by the closing of another mirror at the same time. */
    @Test
    void aSourceWithARoleThatGotMorePermissionsIsNotMovedFrom() {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = "drain";
        world.meanwhile = () ->
                world.source.roles.get("app").add(World.permission(Permission.Type.READWRITE, "/app/0", "/app/00"));
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .hasMessageContainingAll("role app", "granted write access", "is open again");
    }

    /** Such as by a late request of an undo of another mirror, which closes the source again. */
    @Test
    void writesAtASourceThatWasOpenForAMomentAreNamed() {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = "open";
        world.meanwhile = () -> {
            world.isMirrored = false;
            world.source.put(ByteString.copyFromUtf8("/app/late"), ByteString.EMPTY, 0);
            world.isMirrored = true;
        };
        assertThat(world.switchover(OPTIONS).run().lost()).containsExactly("\"/app/late\"");
        world.assertMoved();
    }

    /** It would not fence the moving transaction of the killed one. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aCommandInTheOtherDirectionDoesNotCompleteAKilledOne(Way way) {
        World world = begun(way, true);
        assertThatThrownBy(() -> world.failback().check()).hasMessageContainingAll("cut short", "--undo");
        assertThatThrownBy(() -> world.failback().run()).hasMessageContainingAll("cut short", "--undo");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        assertThat(world.switchover(OPTIONS).run().loss()).isEqualTo(TakeOverReport.NONE);
        world.assertMoved();
    }

    /** The new primary was a closed copy: without it, no cluster would be open. */
    @Test
    void aFailoverOpensTheNewPrimaryOfASwitchoverThatWasCutShort() {
        World counted = new World(Way.ROLES, true);
        var unusedReport = counted.switchover(OPTIONS).run();
        World world = new World(Way.ROLES, true);
        world.cut(counted.requestOf("the primary record", counted.target), Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        assertThatThrownBy(() -> world.failover(OPTIONS).check())
                .hasMessageContaining("the switchover or failback again");
        assertThat(world.target.isOpen("/app/k")).isFalse();
        world.lost = world.source;
        assertThat(world.failover(OPTIONS).plan()).singleElement().asString().startsWith("open:");
        var unusedOpened = world.failover(OPTIONS).run();
        assertThat(world.target.isOpen("/app/k")).isTrue();
        world.lost = null;
        assertThat(world.former(world.source, world.target).close())
                .hasValueSatisfying(conflict -> assertThat(conflict.reason()).contains("is closed"));
        assertThat(world.rejoin(OPTIONS).run().lost()).isEmpty();
        world.assertMoved();
    }

    /** Such as by an operator, after the command was killed or while it drains: permissions refuse nothing then. */
    @ParameterizedTest
    @CsvSource({"ROLES, true", "ROLES, false", "AUTH_ENABLE, false"})
    void aSourceWithAuthenticationDisabledMeanwhileIsNotMovedFrom(Way way, boolean isKilled) {
        World world = begun(way, isKilled);
        if (isKilled) {
            world.source.auth = false;
        } else {
            world.meanwhileAt = "drain";
            world.meanwhile = () -> world.source.auth = false;
        }
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .hasMessageContainingAll("authentication was disabled at source", "is open again");
        assertThat(world.home(world.target).cluster().value()).isOne();
        assertThat(world.source.isOpen("/app/k")).isTrue();
        world.source.auth = way == Way.ROLES;
        assertThat(world.switchover(OPTIONS).run().loss()).isEqualTo(TakeOverReport.NONE);
        world.assertMoved();
    }

    /** As after an operator has enabled authentication, or granted the role root, after the command was killed. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aSourceThatGotUsersAfterAKillIsNotMovedFrom_norOpenedWithoutTheirAuthentication(Way way) {
        World world = new World(way, false);
        World counted = new World(way, false);
        var unused = counted.switchover(OPTIONS).run();
        String last = way == Way.ROLES ? "grant" : "add user";
        world.cut(counted.requestOf(last, counted.source), Fault.KILLED, false);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        world.source.auth = true;
        if (way == Way.ROLES) {
            world.source.users.put("app", List.of("app", "root"));
            assertThatThrownBy(() -> world.switchover(OPTIONS).check())
                    .hasMessageContaining("whatever is revoked: app");
            assertThat(ended(world, false)).contains("whatever is revoked: app", "source is open again");
            world.source.users.put("app", List.of("app"));
        } else {
            world.source.users.putAll(
                    Map.of("root", List.of("root"), "mirror", List.of("root"), "app", List.of("app")));
            world.source.roles.put("app", List.of(World.permission(Permission.Type.READWRITE, "/", "0")));
            assertThatThrownBy(() -> world.switchover(OPTIONS).check()).hasMessageContaining("the mirror's: app");
            assertThatThrownBy(() -> world.switchover(OPTIONS).checkUndo()).hasMessageContaining("the mirror's: app");
            for (boolean isUndo : new boolean[] {false, true}) {
                assertThat(ended(world, isUndo)).contains("the mirror's: app. An operator may have");
                assertThat(world.source.auth).isTrue();
                assertThat(world.source.isOpen("/app/k")).isTrue();
            }
            world.source.users.remove("app");
        }
        assertThat(world.switchover(OPTIONS).run().loss()).isEqualTo(TakeOverReport.NONE);
        world.assertMoved();
    }

    /** No command keeps leases alive after a kill, and their owners cannot. */
    @ParameterizedTest
    @ValueSource(strings = {"resume", "undo", "failed"})
    void keysThatExpireBesideAKilledCommandAreNamed(String next) {
        World world = begun(Way.ROLES, true);
        world.quiet = true;
        world.source.delete(ByteString.copyFromUtf8("/app/0"));
        world.acknowledged.remove("/app/0");
        world.quiet = false;
        if (next.equals("failed")) {
            world.meanwhileAt = "move";
            world.meanwhile = () -> {
                throw new TakeOverException("interrupted");
            };
            assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                    .hasMessageContainingAll("interrupted", "is open again", "1 keys \"/app/0\"");
            return;
        }
        TakeOverReport report = next.equals("undo")
                ? world.switchover(OPTIONS).undo()
                : world.switchover(OPTIONS).run();
        assertThat(report.lost()).containsExactly("\"/app/0\"");
        assertThat(report.loss()).isEqualTo("1 keys");
    }

    /** Such as where the keep-alives are late. Until it has moved, the mirror copies the deletion. */
    @ParameterizedTest
    @CsvSource({"moved, true", "moved, false", "turned, true", "failed, true"})
    void keysThatExpireBeforeTheRoleMovesAreNamed(String end, boolean isMirrored) {
        World world = new World(Way.ROLES, false);
        world.target.put(ReservedKeys.of("dr", "lease/7b"), ByteString.EMPTY, 0);
        world.source.grant(0x7b);
        world.source.put(ByteString.copyFromUtf8("/app/leased"), ByteString.EMPTY, 0x7b);
        world.meanwhileAt = "move";
        world.meanwhile = () -> {
            world.isMirrored = isMirrored;
            world.source.expireLeases();
            if (end.equals("failed")) {
                throw new TakeOverException("interrupted");
            }
        };
        if (end.equals("failed")) {
            assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                    .hasMessageContainingAll("interrupted", "is open again", "1 keys \"/app/leased\"");
            return;
        }
        if (end.equals("turned")) {
            world.writing = () -> {
                if (world.home(world.source).cluster().value() == 2) {
                    world.writing = () -> {};
                    throw new Killed();
                }
            };
            assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
            world.heal();
        }
        TakeOverReport report = world.switchover(OPTIONS).run();
        assertThat(report.loss()).isEqualTo(isMirrored ? "1 keys" : TakeOverReport.NONE);
        assertThat(report.lost()).isEqualTo(isMirrored ? List.of("\"/app/leased\"") : List.of());
        world.isMirrored = true;
        world.assertMoved();
    }

    /** A closed copy refuses keep-alives until the role has moved and it is open. */
    @Test
    void keysThatExpireAtTheNewPrimaryBesideAKilledCommandAreNamed() {
        World counted = new World(Way.ROLES, true);
        var unusedReport = counted.switchover(OPTIONS).run();
        World world = new World(Way.ROLES, true);
        world.cut(counted.requestOf("the primary record", counted.target), Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        world.target.delete(ByteString.copyFromUtf8("/app/0"));
        world.acknowledged.remove("/app/0");
        assertThat(world.switchover(OPTIONS).run().lost()).containsExactly("\"/app/0\"");
        world.assertMoved();
    }

    /** They end with the alarm, which alone kept them. */
    @Test
    void overdueLeasesThatAnUndoEndsWithTheAlarmAreReported() {
        World counted = new World(Way.CORRUPT_ALARM, false);
        World world = new World(Way.CORRUPT_ALARM, false);
        for (World each : List.of(counted, world)) {
            each.target.put(ReservedKeys.of("dr", "lease/7b"), ByteString.EMPTY, 0);
        }
        var unusedReport = counted.switchover(OPTIONS).run();
        world.cut(counted.requestOf("auth enable", counted.source), Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        world.source.grant(0x7b);
        world.source.lapsed.add(0x7bL);
        assertThat(world.switchover(OPTIONS).undo().loss()).contains("not known", "leases");
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /** The target is open to its clients unless a move has closed it. */
    @Test
    void aKeyOfTheTargetThatAClientDeletesRightBeforeTheMoveIsNamed() {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = "move";
        world.meanwhile = () -> {
            world.target.delete(ByteString.copyFromUtf8("/app/0"));
            world.acknowledged.remove("/app/0");
        };
        assertThat(world.switchover(OPTIONS).run().lost()).containsExactly("\"/app/0\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aForeignWriteBeforeAMoveThatClosesNothingIsNamed(boolean isKilled) {
        World counted = new World(Way.ROLES, false);
        World world = foreignlyWritten();
        counted.disputed = true;
        world.disputed = true;
        if (isKilled) {
            var unusedReport = counted.switchover(OPTIONS, Way.NONE).run();
            world.cut(counted.requestOf("the primary record", counted.target), Fault.KILLED, true);
            assertThatThrownBy(() -> world.switchover(OPTIONS, Way.NONE).run()).isInstanceOf(Killed.class);
            world.heal();
        }
        assertThat(world.switchover(OPTIONS, Way.NONE).run().lost()).containsExactly("\"/app/0\"");
    }

    /** Its last comparison is in no record. What the target has compacted may have been written after that. */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void aForeignWriteBeforeTheMoveOfAKilledCommandIsNamed_orLossIsNotKnown(boolean isTurned, boolean isCompacted) {
        World counted = new World(Way.ROLES, false);
        var unusedReport = counted.switchover(OPTIONS).run();
        World world = foreignlyWritten();
        int move = counted.requestOf("the primary record", counted.target);
        world.cut(isTurned ? turn(counted) : move, Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        if (isCompacted) {
            world.target.compact();
            assertThat(world.switchover(OPTIONS).run().loss()).startsWith("not known: ");
        } else {
            assertThat(world.switchover(OPTIONS).run().lost()).containsExactly("\"/app/0\"");
        }
        world.assertMoved();
    }

    @Test
    void whenTheCheckpointWasReachedIsNotKnownIfTheHistoryBeforeIsCompacted() {
        World world = new World(Way.ROLES, false);
        Records records = new Records(world.target, "dr");
        Records.Found found = records.read();
        assertThat(records.reachedAt(found, Long.MAX_VALUE)).isBetween(1L, found.revision());
        world.target.compact();
        assertThatThrownBy(() -> records.reachedAt(found, Long.MAX_VALUE)).isInstanceOf(TakeOverException.class);
    }

    @Test
    void aForeignWriteBeforeTheMoveIsNamedAlthoughTheLockExpiresAfterTheTurn() {
        World counted = new World(Way.ROLES, false);
        var unusedReport = counted.switchover(OPTIONS).run();
        World world = foreignlyWritten();
        world.stopAt = turn(counted) + 1;
        world.beside = () -> world.trace.add("stopped");
        assertThat(world.switchover(OPTIONS).run().lost()).containsExactly("\"/app/0\"");
        assertThat(world.trace).containsExactly("stopped");
        world.assertMoved();
    }

    /** A client of the target changes a key right before the move. */
    private static World foreignlyWritten() {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = "move";
        world.meanwhile = () -> {
            world.target.put(ByteString.copyFromUtf8("/app/0"), ByteString.copyFromUtf8("foreign"), 0);
            world.acknowledged.remove("/app/0");
        };
        return world;
    }

    /** The request with which the former primary stores that it is one. */
    private static int turn(World counted) {
        return counted.names.lastIndexOf("source the primary record") + 1;
    }

    @Test
    void theLossOfASwitchoverThatWasKilledBeforeItsReportIsNotKnown() {
        World counted = new World(Way.ROLES, false);
        var unusedReport = counted.switchover(OPTIONS).run();
        World world = new World(Way.ROLES, false);
        world.cut(counted.names.lastIndexOf("target the primary record") + 1, Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .hasMessageContainingAll("already. If", "its loss is not known", "understudy-lost-keys-*.txt");
        world.assertMoved();
    }

    @Test
    void aSwitchoverThatWasCutShortAfterTheMoveIsNotRejoined() {
        World counted = new World(Way.ROLES, false);
        var unusedReport = counted.switchover(OPTIONS).run();
        World world = new World(Way.ROLES, false);
        world.cut(counted.requestOf("the primary record", counted.target), Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        for (Rejoin rejoin : List.of(world.rejoin(OPTIONS), world.rejoin(OPTIONS.forced()))) {
            assertThatThrownBy(rejoin::plan).hasMessageContaining("the switchover or failback again");
            assertThatThrownBy(rejoin::run).hasMessageContaining("the switchover or failback again");
        }
        assertThat(world.switchover(OPTIONS).run().loss()).isEqualTo(TakeOverReport.NONE);
        world.assertMoved();
    }

    /** A copy that was closed by an earlier move opens as the primary. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRejoinOpensThePrimaryThatAKilledFailoverLeftClosed(boolean isChosen) {
        World world = new World(Way.ROLES, true);
        if (isChosen) {
            forcedUndo(world, false);
        }
        world.disputed = true;
        world.lost = world.source;
        world.meanwhileAt = "open";
        world.meanwhile = () -> {
            throw new Killed();
        };
        assertThatThrownBy(() -> world.failover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        assertThat(world.target.isOpen("/app/k")).isFalse();
        var unused = world.rejoin(isChosen ? OPTIONS.forced() : OPTIONS).run();
        world.disputed = false;
        world.assertMoved();
    }

    /** The failover did not open it, and no other record has them. */
    @Test
    void aPrimaryThatAKilledFailoverLeftClosedKeepsItsPermissionsAsACopy() {
        World world = new World(Way.ROLES, true);
        List<Move.Grant> before =
                Objects.requireNonNull(world.home(world.target).move().closed()).grants();
        world.disputed = true;
        world.lost = world.source;
        world.meanwhileAt = "open";
        world.meanwhile = () -> {
            throw new Killed();
        };
        assertThatThrownBy(() -> world.failover(OPTIONS).run()).isInstanceOf(Killed.class);
        world.heal();
        assertThat(world.former(world.source, world.target).close()).isPresent();
        var unused = world.switchover(OPTIONS.forced()).undo();
        assertThat(world.source.isOpen("/app/k")).isTrue();
        assertThat(Objects.requireNonNull(world.home(world.target).move().closed())
                        .grants())
                .isEqualTo(before)
                .isNotEmpty();
    }

    /** It would close again what that one opens. */
    @Test
    void aStoppedCommandLeavesTheSourceToOneInTheOtherDirection() {
        World world = new World(Way.ROLES, false);
        Lock other = world.lock("host b, pid 2");
        world.meanwhileAt = "open";
        world.meanwhile = () -> {
            world.heal();
            other.take(world.records(world.source), "close");
        };
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .hasMessageContainingAll("has moved to target", "another command is moving", "host b");
        other.release();
        assertThat(world.switchover(OPTIONS).run().loss()).isEqualTo(TakeOverReport.NONE);
        world.assertMoved();
    }

    /** Their owners cannot, and the comparison may take long. */
    @Test
    void aResumedMoveKeepsLeasesAliveAtOnce() {
        World world = begun(Way.ROLES, true);
        world.target.put(ReservedKeys.of("dr", "lease/7b"), ByteString.EMPTY, 0);
        int before = world.names.size();
        var unused = world.switchover(OPTIONS).run();
        List<String> names = world.names.subList(before, world.names.size());
        assertThat(names.indexOf("source keep-alive"))
                .as(names.toString())
                .isBetween(0, names.indexOf("target comparison"));
    }

    /** Its owner may have been answered until then. */
    @ParameterizedTest
    @CsvSource({"ROLES, grant", "CORRUPT_ALARM, auth enable", "AUTH_ENABLE, auth enable"})
    void aLeaseIsRestartedOnceTheFormerPrimaryRefusesKeepAlives(Way way, String refused) {
        World world = new World(way, false);
        world.target.put(ReservedKeys.of("dr", "lease/7b"), ByteString.EMPTY, 0);
        var unused = world.switchover(OPTIONS).run();
        List<String> names = world.names.subList(0, world.names.indexOf("target the primary record"));
        assertThat(names.indexOf("target keep-alive"))
                .as(names.toString())
                .isGreaterThan(last(names, "source " + refused));
        assertThat(names).containsOnlyOnce("target keep-alive");
    }

    private static int last(List<String> names, String prefix) {
        int last = names.size() - 1;
        while (last >= 0 && !names.get(last).startsWith(prefix)) {
            last--;
        }
        assertThat(last).isNotNegative();
        return last;
    }

    /** The mirror brings it after the leases were first read. */
    @Test
    void aLeaseThatWasGrantedRightBeforeTheClosingIsKeptAlive() {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = "drain";
        world.meanwhile = () -> world.target.put(ReservedKeys.of("dr", "lease/7b"), ByteString.EMPTY, 0);
        var unused = world.switchover(OPTIONS).run();
        assertThat(world.requestOf("keep-alive", world.target))
                .isLessThan(world.requestOf("the primary record", world.target))
                .isPositive();
    }

    /** It may take hours. */
    @Test
    void whatAnAdministratorRevokesDuringTheComparisonStaysRevoked() {
        World world = new World(Way.ROLES, false);
        List<Permission> left = List.of(World.permission(Permission.Type.READWRITE, "/app/", "/app0"));
        world.writing = () -> {
            if (world.names.contains("target comparison")
                    && world.home(world.source).move().phase() == Move.Phase.STEADY) {
                world.source.roles.put("app", new ArrayList<>(left));
            }
        };
        world.meanwhileAt = "drain";
        world.meanwhile = () -> {
            throw new TakeOverException("interrupted");
        };
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).hasMessageContaining("is open again");
        assertThat(world.source.roles.get("app")).isEqualTo(left);
    }

    /** Whether it had the role is unknown then. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anUndoOpensTheSourceBesideATargetThatWasRebuilt(boolean isForced) {
        World world = begun(Way.ROLES, true);
        world.quiet = true;
        world.isMirrored = false;
        world.target.delete(ReservedKeys.home("dr"));
        world.target.delete(ReservedKeys.checkpoint("dr"));
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .hasMessageContainingAll("no primary record", "may still be closed", "--undo");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        TakeOverReport report =
                world.switchover(isForced ? OPTIONS.forced() : OPTIONS).undo();
        assertThat(report.loss()).startsWith("possible: all writes").contains("whether it had is unknown");
        assertThat(world.source.isOpen("/app/k")).isTrue();
        assertThat(world.home(world.source).moves()).as("above that of a move").isGreaterThan(1);
    }

    @Test
    void aSwitchoverThatFailsBeforeTheClosingReportsOnlyWhy() {
        World world = new World(Way.ROLES, false);
        world.isMirrored = false;
        world.target.put(ByteString.copyFromUtf8("/app/0"), ByteString.EMPTY, 0);
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).hasMessage("the clusters differ in /app/0");
    }

    /** Its record has no way to close the primary, which the options now select. */
    @Test
    void aKilledSwitchoverThatLeftThePrimaryOpenIsNotResumedByOneThatCloses() {
        World counted = new World(Way.ROLES, false);
        counted.disputed = true;
        var unused = counted.switchover(OPTIONS, Way.NONE).run();
        World world = new World(Way.ROLES, false);
        world.cut(counted.requestOf("the primary record", counted.source), Fault.KILLED, true);
        assertThatThrownBy(() -> world.switchover(OPTIONS, Way.NONE).run()).isInstanceOf(Killed.class);
        world.heal();
        assertThatThrownBy(() -> world.switchover(OPTIONS).check()).hasMessageContaining("--allow-loss");
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).hasMessageContaining("--undo");
        assertThat(world.home(world.target).cluster().value()).isOne();
        assertThat(world.switchover(OPTIONS).undo().summary()).contains("is open again");
        assertThat(world.switchover(OPTIONS).run().loss()).isEqualTo(TakeOverReport.NONE);
        world.assertMoved();
    }

    /** Tests invariant M10: a mirror back must not take leases that clients granted since for its own. */
    @Test
    void theNewPrimaryHasNoMarkThatAllLeasesAreKept() {
        World world = new World(Way.ROLES, false);
        ByteString whole = ReservedKeys.wholeLeases("dr");
        world.target.put(whole, ByteString.EMPTY, 0);
        var unused = world.switchover(OPTIONS).run();
        assertThat(world.target.valueAt(whole, world.target.revision())).isEmpty();
    }

    /** Tests invariant M10: a failover that was killed may have left it, and is not run again after the rejoin. */
    @Test
    void aRejoinLeavesNoMarkThatAllLeasesAreKept() {
        World world = new World(Way.ROLES, false);
        world.failOver();
        ByteString whole = ReservedKeys.wholeLeases("dr");
        world.target.put(whole, ByteString.EMPTY, 0);
        var unused = world.rejoin(OPTIONS).run();
        assertThat(world.target.valueAt(whole, world.target.revision())).isEmpty();
    }

    @Test
    void aSecondCommandIsRefusedAtOnceAndNamesTheFirst() {
        World world = new World(Way.ROLES, false);
        List<String> refused = new ArrayList<>();
        world.meanwhile = () -> {
            world.meanwhile = null;
            try {
                var unused = world.switchover(OPTIONS).run();
            } catch (TakeOverException e) {
                refused.add(String.valueOf(e.getMessage()));
            }
        };
        world.meanwhileAt = "drain";
        var unused = world.switchover(OPTIONS).run();
        assertThat(refused).hasSize(1);
        assertThat(refused.get(0)).contains("host test, pid 1, step close");
        world.assertMoved();
    }

    /** The sites were split for longer than the lock lives: the mirror closed what the command has to undo. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void anUndoDoesNotOpenTheSourceOnceTheTargetFailedOver(Way way) {
        World world = new World(way, false);
        List<FormerPrimary> mirrors = new ArrayList<>();
        world.meanwhileAt = "drain";
        world.meanwhile = () -> {
            world.failOver();
            FormerPrimary former = world.former(world.source, world.target);
            assertThat(former.close()).hasValueSatisfying(conflict -> assertThat(conflict.reason())
                    .contains("is closed"));
            mirrors.add(former);
            throw new TakeOverException("interrupted");
        };
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .isInstanceOf(TakeOverException.class)
                .hasMessageContainingAll("interrupted", "has moved to target", "understudy mirror rejoin");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        assertThatThrownBy(() -> world.switchover(OPTIONS).undo())
                .hasMessageContainingAll("has moved to target", "understudy mirror rejoin");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        var unused = world.rejoin(OPTIONS).run();
        assertEnds(mirrors.get(0));
    }

    /** Authentication and alarms are of the whole cluster: one mirror must not open it to the other's clients. */
    @ParameterizedTest
    @CsvSource({
        "AUTH_ENABLE, false, false",
        "AUTH_ENABLE, false, true",
        "AUTH_ENABLE, true, false",
        "AUTH_ENABLE, true, true",
        "CORRUPT_ALARM, false, false",
        "CORRUPT_ALARM, false, true",
        "CORRUPT_ALARM, true, false",
        "CORRUPT_ALARM, true, true"
    })
    void mirrorsWithAReturnedFormerPrimaryOpenItTogether(Way way, boolean isSecond, boolean isBackFirst) {
        World world = new World(way, false);
        Closing other = new Closing(
                "other",
                world.source,
                List.of(KeyRange.prefix(ByteString.copyFromUtf8("/tenant"))),
                Set.of("mirror", "root"),
                new Credentials("mirror", "secret"));
        world.failOver();
        FormerPrimary former = world.former(world.source, world.target);
        if (!isSecond) {
            assertThat(former.close()).isPresent();
            var unused = world.rejoin(OPTIONS).run();
        }
        world.quiet = true;
        Move.Closed how = other.prepare(way);
        otherRecord(world, Move.NONE.closed(how));
        other.close(how);
        other.refuseKeepAlives(how);
        otherRecord(world, Move.NONE.closed(other.settle(how)));
        world.quiet = false;
        if (isSecond) {
            assertThat(former.close()).hasValueSatisfying(conflict -> assertThat(conflict.reason())
                    .contains("is closed (auth-enable)"));
            var unused = world.rejoin(OPTIONS).run();
        }
        world.heal();
        world.disputed = false;
        for (int i = 0; i < 4; i++) {
            world.tick();
        }
        if (isBackFirst) {
            assertThat(world.failback().run().next().get(0)).contains("source stays closed to clients", "other");
            assertThat(world.source.isOpen("/app/k")).isFalse();
            assertThat(other.open(how)).isEmpty();
        } else {
            assertThat(other.open(how))
                    .hasValueSatisfying(why -> assertThat(why).contains("dr"));
            assertThat(world.source.isOpen("/app/k")).isFalse();
            otherRecord(world, Move.NONE);
            assertThat(world.failback().run().next().get(0)).startsWith("point clients");
        }
        assertThat(world.source.isOpen("/app/k")).isTrue();
        assertThat(world.target.isOpen("/app/k")).isFalse();
    }

    private static void otherRecord(World world, Move move) {
        Home home = new Home(
                "other",
                new ClusterId(2),
                new ClusterId(1),
                new ClusterId(2),
                MirrorScope.prefix("/tenant"),
                1,
                Instant.EPOCH);
        world.source.put(ReservedKeys.home("other"), home.with(move).encode(), 0);
    }

    /** Such as an undo that saw the target before it failed over. */
    @Test
    void aFormerPrimaryThatACommandOpensIsClosedAgain() {
        World world = new World(Way.ROLES, false);
        world.failOver();
        FormerPrimary former = world.former(world.source, world.target);
        assertThat(former.close()).isPresent();
        Home closed = world.home(world.source);
        world.closing(world.source).open(closed(world));
        world.source.put(ReservedKeys.home("dr"), closed.with(Move.NONE).encode(), 0);
        for (int look = 0; look < 2; look++) {
            assertThat(former.close()).hasValueSatisfying(conflict -> assertThat(conflict.reason())
                    .contains("is closed"));
        }
        assertThat(world.source.isOpen("/app/k")).isFalse();
        int before = world.requests;
        for (int look = 0; look < 20; look++) {
            assertThat(former.close()).isPresent();
        }
        assertThat(world.requests - before)
                .as("permissions are read at every tenth look")
                .isLessThanOrEqualTo(40);
    }

    /** Such as by an operator. The record is unchanged. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aFormerPrimaryThatIsOpenedByHandIsClosedAgain_orNamedAsOpen(Way way) {
        World world = new World(way, false);
        world.failOver();
        FormerPrimary former = world.former(world.source, world.target);
        assertThat(former.close()).isPresent();
        for (int time = 0; time < 2; time++) {
            world.quiet = true;
            assertThat(world.closing(world.source).open(closed(world))).isEmpty();
            world.quiet = false;
            for (int look = 0; look < 10; look++) {
                assertThat(former.close()).hasValueSatisfying(conflict -> assertThat(conflict.reason())
                        .contains("is closed"));
            }
            assertThat(world.source.isOpen("/app/k")).as("time %s", time).isFalse();
        }
        if (way == Way.ROLES) {
            world.source.roles.put("late", List.of(World.permission(Permission.Type.READWRITE, "/app/", "/app0")));
            for (int look = 0; look < 10; look++) {
                assertThat(former.close()).isPresent();
            }
            assertThat(world.source.isOpen("/app/k")).isFalse();
            assertThat(closed(world).grants()).extracting(Move.Grant::role).contains("app", "late");
        }
    }

    @Test
    void aForcedUndoIsRefusedBesideALivingCommand() {
        World world = new World(Way.CORRUPT_ALARM, false);
        List<String> refused = new ArrayList<>();
        world.meanwhileAt = "drain";
        world.meanwhile = () -> {
            world.meanwhile = null;
            try {
                refused.add(world.switchover(OPTIONS.forced()).undo().summary());
            } catch (TakeOverException e) {
                refused.add(String.valueOf(e.getMessage()));
            }
        };
        var unused = world.switchover(OPTIONS).run();
        assertThat(refused).singleElement().asString().contains("another command is moving", "step close");
        world.assertMoved();
    }

    /** Both operators reach both clusters, or that of the undo does not reach the target. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aForcedUndoBesideALivingRejoinLeavesNoCopyOpen(boolean isSplit) {
        World world = new World(Way.ROLES, false);
        world.failOver();
        assertThat(world.former(world.source, world.target).close()).isPresent();
        List<String> undone = new ArrayList<>();
        world.meanwhileAt = "compare";
        world.meanwhile = () -> {
            world.meanwhile = null;
            world.lost = isSplit ? world.target : null;
            undone.add(ended(world, OPTIONS.forced(), true));
            world.lost = null;
        };
        if (isSplit) {
            assertThatThrownBy(() -> world.rejoin(OPTIONS).run())
                    .hasMessageContaining("another command changed the record at source meanwhile");
            assertThat(undone).singleElement().asString().contains("is open again");
            assertOutranks(world);
        } else {
            var unused = world.rejoin(OPTIONS).run();
            assertThat(undone).singleElement().asString().contains("another command is moving", "step rejoin");
            world.disputed = false;
            world.assertMoved();
        }
    }

    /** Such as when its disks were rolled back to a snapshot, after a switchover that was killed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTargetThatWasRestoredToATimeWhenItWasThePrimaryKeepsNoSourceClosed(boolean isUndo) {
        World world = begun(Way.ROLES, true);
        world.disputed = true;
        Home closing = world.home(world.source);
        Home later = closing.movedTo(new ClusterId(1), 2, Instant.now()).with(closing.move());
        world.source.put(ReservedKeys.home("dr"), later.encode(), 0);
        Home restored = closing.movedTo(new ClusterId(2), 1, Instant.EPOCH).turned();
        world.target.put(ReservedKeys.home("dr"), restored.encode(), 0);
        assertThatThrownBy(
                        () -> world.rejoin(world.target, world.source, OPTIONS).run())
                .hasMessageEndingWith("run the switchover or failback that was cut short with --undo, then"
                        + " \"understudy mirror rejoin\"");
        world.switchover(OPTIONS).checkUndo();
        assertThat(ended(world, isUndo)).contains("source is open again");
        assertThat(world.source.isOpen("/app/k")).isTrue();
        var unused = world.rejoin(world.target, world.source, OPTIONS).run();
        assertThat(world.target.isOpen("/app/k")).isFalse();
        assertThat(world.home(world.target).cluster().value()).isOne();
    }

    /** The record no longer has the permissions that were revoked. */
    @Test
    void aForcedUndoBesideAClosingLeavesTheFormerPrimaryOpen() {
        World world = new World(Way.ROLES, false);
        world.failOver();
        List<String> undone = new ArrayList<>();
        world.writing = () -> {
            if (undone.isEmpty() && world.home(world.source).move().phase() == Move.Phase.CLOSING) {
                undone.add("");
                world.lost = world.target;
                undone.add(ended(world, OPTIONS.forced(), true));
                world.lost = null;
            }
        };
        assertThatThrownBy(() -> world.rejoin(OPTIONS).run())
                .hasMessageContaining("another command changed the record at source meanwhile");
        assertThat(undone.get(1)).contains("is open again");
        assertOutranks(world);
    }

    /** Such as with a source that was restored from an old backup. */
    @Test
    void aForcedUndoAfterAFailoverOutranksATargetOfAnyEpoch() {
        World world = new World(Way.ROLES, false);
        world.failOver();
        Home moved = world.home(world.target);
        world.target.put(
                ReservedKeys.home("dr"),
                moved.movedTo(new ClusterId(2), 7, Instant.now())
                        .with(moved.move())
                        .encode(),
                0);
        assertThat(world.former(world.source, world.target).close()).isPresent();
        assertThat(ended(world, OPTIONS.forced(), true)).contains("is open again");
        assertOutranks(world);
    }

    /** Both clusters respond. In the order of a planned move, also if the command is cut. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aForcedUndoAfterAFailoverClosesTheTargetBeforeTheSourceOpens(Way way) {
        List<String> requests = chosen(way, 0, Fault.ERROR, false);
        assertThat(requests).hasSizeGreaterThan(10);
        // A target that does not respond then is left to the mirror.
        int look = requests.indexOf("target range") + 1;
        for (int cut = 1; cut <= requests.size(); cut++) {
            for (Fault fault : cut == look ? List.of(Fault.KILLED) : List.of(Fault.values())) {
                var unused = chosen(way, cut, fault, false);
                var unusedDelivered = chosen(way, cut, fault, true);
            }
        }
    }

    /** Returns the requests of the command. */
    private static List<String> chosen(Way way, int cut, Fault fault, boolean delivered) {
        String shown = "%s at request %d, delivered %s".formatted(fault, cut, delivered);
        World world = new World(way, false);
        world.failOver();
        assertThat(world.former(world.source, world.target).close()).isPresent();
        world.writing = () -> assertThat(world.source.isOpen("/app/k") && world.target.isOpen("/app/k"))
                .as(shown + ": both acknowledge writes")
                .isFalse();
        int before = world.requests;
        world.cut(cut == 0 ? 0 : before + cut, fault, delivered);
        try {
            TakeOverReport report = world.switchover(OPTIONS.forced()).undo();
            assertThat(report.loss()).as(shown).contains("all writes that target acknowledged as the primary");
            assertThat(report.next()).as(shown).last().asString().startsWith("target is closed (");
        } catch (Killed | TakeOverException e) {
            world.trace.add(String.valueOf(e.getMessage()));
        }
        List<String> requests = List.copyOf(world.names.subList(before, world.requests));
        world.heal();
        if (Stream.of(world.source, world.target)
                .allMatch(each -> world.home(each).move().phase() == Move.Phase.CLOSING)) {
            assertThat(world.former(world.source, world.target).close())
                    .hasValueSatisfying(
                            conflict -> assertThat(conflict.reason()).as(shown).endsWith("again, with --undo --force"));
        }
        assertThat(cut == 0 ? "is open again" : ended(world, OPTIONS.forced(), true))
                .as(shown + world.trace)
                .containsAnyOf("is open again", "nothing to undo");
        assertThat(world.target.isOpen("/app/k")).as(shown + world.trace).isFalse();
        assertOutranks(world);
        var unused = world.rejoin(world.target, world.source, OPTIONS.with(way)).run();
        assertThat(world.home(world.target).cluster().value()).as(shown).isOne();
        return requests;
    }

    @Test
    void aForcedUndoAfterAFailoverIsRefusedIfTheTargetCannotBeClosed_unlessItIsToBeLeftOpen() {
        World world = new World(Way.AUTH_ENABLE, false);
        world.failOver();
        assertThat(world.former(world.source, world.target).close()).isPresent();
        Switchover refused = world.switchover(OPTIONS.forced(), Way.ROLES);
        assertThat(refused.undoPlan()).hasSize(2).first().asString().startsWith("close: closes target");
        assertThatThrownBy(refused::checkUndo)
                .hasMessageContainingAll("authentication is not enabled at target", "--allow-loss");
        assertThatThrownBy(refused::undo).hasMessageContaining("authentication is not enabled at target");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        assertThat(world.target.isOpen("/app/k")).isTrue();
        Switchover leaving = world.switchover(OPTIONS.forced(), Way.NONE);
        assertThat(leaving.undoPlan()).hasSize(1);
        assertThat(leaving.undo().loss()).endsWith("target acknowledges as the primary until it is closed");
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /** The source could not be opened once the target is closed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anUnreadableRecordAtTheSourceRefusesAForcedUndoAfterAFailover(boolean isAtTarget) {
        World world = new World(Way.ROLES, false);
        world.failOver();
        assertThat(world.former(world.source, world.target).close()).isPresent();
        FakeCluster there = isAtTarget ? world.target : world.source;
        there.put(ReservedKeys.home("other"), ByteString.copyFromUtf8("{}"), 0);
        if (!isAtTarget) {
            Switchover refused = world.switchover(OPTIONS.forced());
            assertThatThrownBy(refused::checkUndo).hasMessageContaining("home/other");
            assertThatThrownBy(refused::undo).hasMessageContaining("home/other");
            assertThat(world.target.isOpen("/app/k")).isTrue();
            assertThat(world.records(world.target).read().isPrimary()).isTrue();
            world.lost = world.target;
            assertThatThrownBy(refused::checkUndo).hasMessageContaining("home/other");
            world.lost = null;
            world.source.delete(ReservedKeys.home("other"));
        }
        world.switchover(OPTIONS.forced()).checkUndo();
        assertThat(ended(world, OPTIONS.forced(), true)).contains("is open again");
        assertThat(world.target.isOpen("/app/k")).isFalse();
        assertOutranks(world);
    }

    private static void assertOutranks(World world) {
        world.quiet = true;
        assertThat(world.source.isOpen("/app/k")).isTrue();
        assertThat(world.home(world.source).cluster().value()).isOne();
        assertThat(world.home(world.source).moves())
                .isGreaterThan(world.home(world.target).moves());
        assertThat(world.former(world.target, world.source).close())
                .hasValueSatisfying(conflict -> assertThat(conflict.reason()).contains("is closed"));
    }

    /** The operator of the undo does not reach the target. */
    @ParameterizedTest
    @ValueSource(strings = {"drain", "move", "open"})
    void aMoveBesideAForcedUndoFails(String step) {
        World world = new World(Way.CORRUPT_ALARM, false);
        world.disputed = true;
        world.meanwhileAt = step;
        world.meanwhile = () -> {
            world.meanwhile = null;
            world.lost = world.target;
            var unusedText = world.switchover(OPTIONS.forced()).undo();
            world.lost = null;
        };
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(TakeOverException.class);
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /** Another command ran while this one was stopped for longer than its lock lives. */
    @Test
    void aFailoverOfAnotherCommandIsNotTakenForTheMove() {
        World world = new World(Way.ROLES, false);
        world.meanwhileAt = "move";
        world.meanwhile = world::failOver;
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .isInstanceOf(TakeOverException.class)
                .hasMessageContainingAll("source stays closed", "has moved to target", "understudy mirror rejoin");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        assertThat(world.home(world.source).cluster().value())
                .as("no copy of the target")
                .isEqualTo(1);
    }

    /** Likewise, once the role has moved. */
    @Test
    void aClusterThatAnotherCommandClosedSinceIsNotOpened() {
        World world = new World(Way.ROLES, true);
        world.meanwhileAt = "open";
        world.meanwhile = () -> {
            world.meanwhile = null;
            world.heal();
            var unused = world.switchover(OPTIONS).run();
            var unusedBack = world.failback().run();
        };
        assertThatThrownBy(() -> world.switchover(OPTIONS).run()).hasMessageContaining("another command has moved");
        assertThat(world.target.isOpen("/app/k")).isFalse();
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /**
     * The command is stopped at each of its requests for longer than its lock lives, while another one undoes or resumes the
     * move.
     */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aCommandThatWasStoppedForLongerThanItsLockLivesStartsNothingMore(Way way) {
        for (boolean isUndo : new boolean[] {false, true}) {
            World whole = begun(way, isUndo);
            int first = whole.requests + 1;
            var unused = ended(whole, isUndo);
            assertThat(whole.requests - first).isGreaterThan(10);
            // The last one releases the lock: all is done.
            for (int stop = first; stop < whole.requests; stop++) {
                for (Next next : Next.values()) {
                    stopped(begun(way, isUndo), isUndo, stop, false, next);
                    // One request is on its way already: what it does is undone.
                    stopped(begun(way, isUndo), isUndo, stop, true, next);
                }
            }
        }
    }

    /** With a switchover that was killed, if one is to be undone. */
    private static World begun(Way way, boolean isUndo) {
        World world = new World(way, false);
        if (isUndo) {
            world.meanwhileAt = "drain";
            world.meanwhile = () -> {
                throw new Killed();
            };
            assertThatThrownBy(() -> world.switchover(OPTIONS).run()).isInstanceOf(Killed.class);
            world.meanwhile = null;
            world.heal();
        }
        return world;
    }

    private static void stopped(World world, boolean isUndo, int stop, boolean isLate, Next next) {
        world.stopAt = stop;
        world.isLate = isLate;
        // The request that is on its way may open one side until the command has found out.
        world.disputed = isLate;
        List<String> texts = new ArrayList<>();
        world.beside = () -> texts.add("beside: " + ended(world, next == Next.UNDO));
        texts.add(ended(world, isUndo));
        String shown = "%s of %s, late %s: %s %s".formatted(stop, isUndo, isLate, texts, world.names);
        assertThat(texts).as(shown).hasSize(2);
        String text = texts.get(1);
        boolean isMoved = world.home(world.target).cluster().value() == 2;
        if (text.contains("is open again")) {
            assertThat(world.source.isOpen("/app/k")).as(shown).isTrue();
            assertThat(isMoved).as(shown).isFalse();
        }
        if (text.contains("stays closed") || text.contains("is now target")) {
            assertThat(world.source.isOpen("/app/k")).as(shown).isFalse();
            assertThat(isMoved).as(shown).isTrue();
        }
        assertThat(world.source.isOpen("/app/k"))
                .as(shown)
                .isEqualTo(world.home(world.source).move().closed() == null);
        world.disputed = false;
        var unusedText = ended(world, false);
        try {
            world.assertMoved();
            assertThat(closed(world).grants()).hasSize(world.way == Way.ROLES ? 2 : 0);
        } catch (AssertionError e) {
            throw new AssertionError(shown + ": " + e.getMessage(), e);
        }
    }

    /** What a command prints. */
    private static String ended(World world, boolean isUndo) {
        return ended(world, OPTIONS, isUndo);
    }

    private static String ended(World world, TakeOverOptions options, boolean isUndo) {
        try {
            return isUndo
                    ? world.switchover(options).undo().summary()
                    : world.switchover(options).run().summary();
        } catch (TakeOverException e) {
            return "refused: " + e.getMessage();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void aStoppedCommandLeavesToAnotherWhatThatOneDoes(Way way) {
        World world = new World(way, false);
        Lock other = world.lock("host b, pid 2");
        world.meanwhileAt = "drain";
        world.meanwhile = () -> {
            world.meanwhile = null;
            world.heal();
            other.take(world.records(world.target), "undo");
        };
        assertThatThrownBy(() -> world.switchover(OPTIONS).run())
                .hasMessageContainingAll(
                        "has expired", "may still be closed", "host b, pid 2, step undo", "or with --undo");
        assertThat(world.source.isOpen("/app/k")).isFalse();
        assertThat(Lock.holder(world.records(world.target))).isPresent();
        other.release();
        assertThat(world.switchover(OPTIONS).undo().summary()).contains("is open again");
        assertThat(world.source.isOpen("/app/k")).isTrue();
    }

    /** Clients of both sides write, since none was closed. */
    @Test
    void writesThatAnOpenSourceAcceptsUntilItIsTurnedAreNamed() {
        World world = new World(Way.ROLES, false);
        world.disputed = true;
        Set<String> late = new LinkedHashSet<>();
        world.writing = () -> {
            String key = "/app/late/" + world.requests;
            if (world.home(world.source).cluster().value() == 1) {
                assertThat(world.source.clientPuts(key, "1")).isTrue();
                late.add(key);
            }
        };
        TakeOverReport report = world.switchover(OPTIONS, Way.NONE).run();
        assertThat(late.stream()
                        .filter(key -> world.target
                                .valueAt(ByteString.copyFromUtf8(key), world.target.revision())
                                .isEmpty())
                        .map(key -> '"' + key + '"'))
                .isNotEmpty()
                .isSubsetOf(report.lost());
        assertThat(report.isWithoutLoss()).isFalse();
    }

    /** Two clusters, a mirror, clients, and the faults between them and the command. */
    private static final class World implements FakeCluster.World {

        private final Way way;
        private final boolean closedBefore;
        final FakeCluster source = new FakeCluster("source", 1, this);
        final FakeCluster target = new FakeCluster("target", 2, this);
        private final List<String> trace = new ArrayList<>();
        private final List<String> names = new ArrayList<>();
        /** The last acknowledged value of each key. */
        private final Map<String, String> acknowledged = new HashMap<>();
        /** As decoded, which takes longer than all else. */
        private final Map<ByteString, Checkpoint> checkpoints = new HashMap<>();

        private final Map<ByteString, Home> homes = new HashMap<>();

        private int requests;
        private int cutAt;
        private Fault fault = Fault.ERROR;
        private boolean delivered;
        private @Nullable FakeCluster lost;
        /** Whether clients cannot reach the target either. */
        private boolean gone;

        /** Of the locks. */
        private long now;
        /** Runs while the command is stopped at a request. */
        private @Nullable Runnable beside;

        private int stopAt;
        /** Whether it is stopped after it has found that its lock lives. */
        private boolean isLate;

        private @Nullable Runnable meanwhile;
        private String meanwhileAt = "";
        /** What clients do beside. */
        private Runnable writing = () -> {};

        private int written;
        private boolean quiet;
        private boolean keepsLeases = true;
        private boolean isMirrored = true;
        /** Whether both are the primary after a failover: writes at the one of the lower epoch are not kept. */
        private boolean disputed;

        World(Way way, boolean closedBefore) {
            this.way = way;
            this.closedBefore = closedBefore;
            quiet = true;
            for (FakeCluster cluster : way == Way.ROLES ? List.of(source, target) : List.<FakeCluster>of()) {
                cluster.users.put("mirror", List.of("mirror"));
                cluster.users.put("app", List.of("app"));
                cluster.users.put("root", List.of("root"));
                cluster.roles.put("root", List.of());
                cluster.roles.put("mirror", List.of(permission(Permission.Type.READWRITE, "\0", "\0")));
                cluster.roles.put(
                        "app",
                        new ArrayList<>(List.of(
                                permission(Permission.Type.READWRITE, "/", "0"),
                                permission(Permission.Type.READ, "/app/", "/app0"))));
                cluster.auth = true;
            }
            Home home = new Home("dr", new ClusterId(1), new ClusterId(1), new ClusterId(2), SCOPE, 0, Instant.EPOCH);
            source.put(ReservedKeys.home("dr"), home.encode(), 0);
            Move.Closed closed = null;
            if (closedBefore) {
                Closing closing = closing(target);
                // Left by an earlier move; the source is not closed then, whatever the way of this one is.
                closed = closing.prepare(way == Way.CORRUPT_ALARM ? Way.AUTH_ENABLE : way);
                closing.close(closed);
            }
            target.put(
                    ReservedKeys.home("dr"), home.with(Move.NONE.closed(closed)).encode(), 0);
            target.put(
                    ReservedKeys.checkpoint("dr"),
                    CheckpointCodec.encode(Checkpoint.first(new ClusterId(1), SCOPE, "mirror", Instant.EPOCH)),
                    0);
            target.put(ReservedKeys.epoch("dr"), ByteString.copyFromUtf8("1"), 0);
            quiet = false;
            requests = 0;
            names.clear();
            for (int i = 0; i < 3; i++) {
                tick();
            }
        }

        /** Without the source; the lock of a command that is at work expires. */
        void failOver() {
            heal();
            disputed = true;
            lost = source;
            var unused = failover(OPTIONS).run();
            lost = null;
        }

        /** For clients, too. */
        void loseTarget() {
            quiet = false;
            lost = target;
            gone = true;
        }

        /** Both are the primary, with epoch 0. */
        void claimTarget() {
            disputed = true;
            Home claimed =
                    new Home("dr", new ClusterId(2), new ClusterId(1), new ClusterId(2), SCOPE, 0, Instant.EPOCH);
            target.put(ReservedKeys.home("dr"), claimed.encode(), 0);
        }

        private static Permission permission(Permission.Type type, String from, String end) {
            return Permission.newBuilder()
                    .setPermType(type)
                    .setKey(ByteString.copyFromUtf8(from))
                    .setRangeEnd(ByteString.copyFromUtf8(end))
                    .build();
        }

        Records records(FakeCluster cluster) {
            return new Records(cluster, "dr");
        }

        Lock lock(String process) {
            return new Lock(process, () -> new Lock.ClockTime(now, 0), (keepAlive, pause) -> () -> {});
        }

        private Direction direction(FakeCluster from, FakeCluster to, String process) {
            Lock lock = lock(process);
            TakeOverCalls first = requiring(lock, from);
            TakeOverCalls second = requiring(lock, to);
            return new Direction(
                    "dr",
                    SCOPE,
                    first,
                    second,
                    closing(first),
                    closing(second),
                    new Comparing(from, to),
                    keepsLeases,
                    lock);
        }

        /** As the calls of a command, which may be stopped at each. */
        private TakeOverCalls requiring(Lock lock, FakeCluster cluster) {
            InvocationHandler calls = (proxy, method, arguments) -> {
                if (method.getName().equals("with")) {
                    return proxy;
                }
                if (!method.getName().equals("shown") && !method.getName().equals("login")) {
                    stop(false);
                    lock.require();
                    stop(true);
                }
                try {
                    return method.invoke(cluster, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            };
            return (TakeOverCalls) Proxy.newProxyInstance(
                    TakeOverCalls.class.getClassLoader(), new Class<?>[] {TakeOverCalls.class}, calls);
        }

        private void stop(boolean late) {
            Runnable other = beside;
            if (other != null && late == isLate && requests + 1 >= stopAt) {
                beside = null;
                heal();
                other.run();
                heal();
            }
        }

        private Closing closing(TakeOverCalls cluster) {
            return new Closing(
                    "dr",
                    cluster,
                    List.of(KeyRange.prefix(ByteString.copyFromUtf8("/app/"))),
                    Set.of("mirror", "root"),
                    new Credentials("mirror", "secret"));
        }

        Switchover switchover(TakeOverOptions options) {
            return switchover(options, way);
        }

        Switchover switchover(TakeOverOptions options, Way closing) {
            return new Switchover(direction(source, target, "host test, pid 1"), options.with(closing), this::begin);
        }

        private void begin(String step) {
            Runnable other = meanwhile;
            if (step.equals(meanwhileAt) && other != null) {
                meanwhile = null;
                other.run();
            }
        }

        Switchover failback() {
            return new Switchover(direction(target, source, "host test, pid 2"), OPTIONS.with(way), step -> {});
        }

        Failover failover(TakeOverOptions options) {
            return failover(options, way);
        }

        Failover failover(TakeOverOptions options, Way closing) {
            return failover(source, target, options.with(closing));
        }

        private Failover failover(FakeCluster from, FakeCluster to, TakeOverOptions options) {
            return new Failover(direction(from, to, "host test, pid 1"), options, this::begin);
        }

        Rejoin rejoin(TakeOverOptions options) {
            return rejoin(source, target, options.with(way));
        }

        private Rejoin rejoin(FakeCluster from, FakeCluster to, TakeOverOptions options) {
            return new Rejoin(direction(from, to, "host test, pid 1"), options, this::begin);
        }

        FormerPrimary former(FakeCluster from, FakeCluster to) {
            return new FormerPrimary(to.name, from.name, direction(from, to, "host test, pid 1"));
        }

        void cut(int request, Fault kind, boolean isDelivered) {
            cutAt = request;
            fault = kind;
            delivered = isDelivered;
        }

        /** The command is gone, or is stopped for longer than its lock lives; clusters respond. */
        void heal() {
            cutAt = 0;
            lost = null;
            now += Lock.TTL.toNanos();
            source.expireLeases();
            target.expireLeases();
        }

        int requestOf(String what, FakeCluster cluster) {
            return names.indexOf(cluster.name + " " + what) + 1;
        }

        @Override
        public <T> T request(FakeCluster cluster, String what, Supplier<T> body) {
            if (quiet) {
                return body.get();
            }
            requests++;
            names.add(cluster.name + " " + what);
            if (cluster == lost) {
                throw cluster.away(cluster.name + " does not respond");
            }
            if (requests != cutAt) {
                T answer = body.get();
                tick();
                return answer;
            }
            trace.add("cut " + cluster.name + " " + what);
            if (delivered) {
                var unused = body.get();
            }
            tick();
            if (fault == Fault.KILLED) {
                throw new Killed();
            }
            lost = fault == Fault.LOST ? cluster : null;
            throw cluster.away(cluster.name + " did not respond to " + what);
        }

        /** Clients write wherever they may, and the mirror relays. */
        private void tick() {
            boolean atSource = source.isOpen("/app/k");
            boolean atTarget = !gone
                    && target.isOpen("/app/k")
                    && (closedBefore || home(target).cluster().value() == 2);
            if (atSource && atTarget && !disputed) {
                throw new AssertionError("both sides acknowledge writes " + trace + names);
            }
            // Its lock would be held by another client, too: after a planned move, not after a failover.
            boolean isBack = home(source).cluster().value() == 1
                    && home(source).moves() > home(target).moves();
            if (source.keepsAlive("/app/k") && home(target).cluster().value() == 2 && !isBack && !gone && !disputed) {
                throw new AssertionError("both sides keep leases alive " + trace + names);
            }
            String key = "/app/" + written % 4;
            String value = String.valueOf(written++);
            FakeCluster open = atSource && !disputed ? source : atTarget ? target : null;
            if (open != null && open.clientPuts(key, value)) {
                acknowledged.put(key, value);
            }
            var unused = source.clientPuts("/tenant", value);
            writing.run();
            mirror(source, target);
            mirror(target, source);
        }

        private Home home(FakeCluster cluster) {
            return homes.computeIfAbsent(
                    cluster.valueAt(ReservedKeys.home("dr"), cluster.revision()).orElseThrow(),
                    stored -> Home.decode("a test", stored));
        }

        private Checkpoint checkpoint(FakeCluster cluster) {
            return checkpoints.computeIfAbsent(
                    cluster.valueAt(ReservedKeys.checkpoint("dr"), cluster.revision())
                            .orElseThrow(),
                    stored -> {
                        try {
                            return CheckpointCodec.decode("a test", stored);
                        } catch (CorruptCheckpointException e) {
                            throw new AssertionError(e);
                        }
                    });
        }

        private void mirror(FakeCluster from, FakeCluster to) {
            Optional<ByteString> stored = to.valueAt(ReservedKeys.checkpoint("dr"), to.revision());
            if (!isMirrored || to.corrupt || home(to).cluster().value() == to.id || stored.isEmpty()) {
                return;
            }
            Checkpoint checkpoint = checkpoint(to);
            if (checkpoint.source().value() != from.id) {
                return;
            }
            boolean all = checkpoint.state() == CheckpointState.SYNCING;
            List<ByteString> changed = all
                    ? from.keysBelow("/app/")
                    : from.changed("/app/", checkpoint.revision().value(), from.revision());
            for (ByteString key : changed) {
                Optional<ByteString> value = from.valueAt(key, from.revision());
                if (!value.equals(to.valueAt(key, to.revision()))) {
                    value.ifPresentOrElse(present -> to.put(key, present, 0), () -> to.delete(key));
                }
            }
            if (from.revision() > checkpoint.revision().value()) {
                Position reached = new Position(new ClusterId(from.id), new Revision(from.revision()), null);
                Checkpoint marked = checkpoint.marked(checkpoint.path(), Instant.now());
                to.put(ReservedKeys.checkpoint("dr"), CheckpointCodec.encode(marked.syncedAt(reached)), 0);
            }
        }

        /** @param failure of a command that may have moved the role */
        void assertMoveIsNamed(String shown, TakeOverException failure) {
            trace.add(String.valueOf(failure.getMessage()));
            if (home(target).cluster().value() == 2) {
                assertThat(failure).as(shown + trace).hasMessageContaining("has moved");
            }
        }

        void assertMoved() {
            quiet = false;
            cutAt = 0;
            for (int i = 0; i < 8; i++) {
                tick();
            }
            assertThat(home(target).cluster().value()).as("primary").isEqualTo(2);
            assertThat(home(source).cluster().value())
                    .as("primary at the source")
                    .isEqualTo(2);
            assertThat(home(target).move().phase()).isEqualTo(Move.Phase.STEADY);
            assertThat(source.isOpen("/app/k")).as("the source is closed").isFalse();
            assertThat(target.isOpen("/app/k")).as("the target is open").isTrue();
            if (way == Way.ROLES) {
                assertThat(source.isOpen("/tenant")).as("other tenants write").isTrue();
                assertThat(target.roles.get("app"))
                        .as("roles of the target are as they were")
                        .hasSize(2);
            }
            for (FakeCluster cluster : List.of(target, source)) {
                Map<String, String> held = new HashMap<>();
                acknowledged.keySet().forEach(key -> cluster.valueAt(ByteString.copyFromUtf8(key), cluster.revision())
                        .ifPresent(value -> held.put(key, value.toStringUtf8())));
                assertThat(held).as(cluster.name).isEqualTo(acknowledged);
            }
        }

        private final class Comparing implements Direction.Comparer {

            private final FakeCluster from;
            private final FakeCluster to;

            Comparing(FakeCluster from, FakeCluster to) {
                this.from = from;
                this.to = to;
            }

            @Override
            public Equal all() {
                return changed(new Equal(0, 0, 0));
            }

            @Override
            public Equal changed(Equal before) {
                return request(to, "comparison", () -> {
                    long reached = checkpoint(to).revision().value();
                    for (ByteString key : from.keysBelow("/app/")) {
                        if (!from.valueAt(key, reached).equals(to.valueAt(key, to.revision()))) {
                            throw new TakeOverException("the clusters differ in " + key.toStringUtf8());
                        }
                    }
                    return new Equal(reached, to.revision(), 4);
                });
            }

            @Override
            public Lost lostBetween(long after, long until) {
                return request(
                        from,
                        "lost keys",
                        () -> new Lost(
                                from.changed("/app/", after, until).stream()
                                        .filter(key -> !from.valueAt(key, until).equals(to.valueAt(key, to.revision())))
                                        .toList(),
                                null));
            }

            @Override
            public boolean hasWrites(long after, long until) {
                return request(
                        from,
                        "writes",
                        () -> from.hasClientDeletes(after, until)
                                || from.changed("/app/", after, until).stream().anyMatch(key -> from.valueAt(key, until)
                                        .isPresent()));
            }

            @Override
            public Lost lostAfter(Checkpoint reached) {
                return new Lost(from.changed("/app/", reached.revision().value(), from.revision()), null);
            }

            @Override
            public void differing(Consumer<ByteString> each) {
                Set<ByteString> all = new LinkedHashSet<>(from.keysBelow("/app/"));
                all.addAll(to.keysBelow("/app/"));
                var unused = request(from, "all keys", () -> {
                    all.removeIf(key -> from.valueAt(key, from.revision()).equals(to.valueAt(key, to.revision())));
                    return all;
                });
                all.forEach(each);
            }

            @Override
            public List<ByteString> overwritten(Equal before, long until, long firstAt) {
                long at = firstAt > 0 ? firstAt : from.revision();
                return request(to, "comparison after the move", () -> to.changed("/app/", before.to(), until).stream()
                        .filter(key -> !from.valueAt(key, at).equals(to.valueAt(key, until)))
                        .toList());
            }

            @Override
            public List<ByteString> missingSince(TakeOverCalls cluster, long revision, long until, boolean expired) {
                FakeCluster at = cluster.shown().equals(from.name) ? from : to;
                long last = until > 0 ? until : at.revision();
                return at.changed("/app/", revision, last).stream()
                        .filter(key -> at.valueAt(key, last).isEmpty())
                        .toList();
            }

            @Override
            public @Nullable Anchor anchor(long revision) {
                return null;
            }
        }
    }
}
