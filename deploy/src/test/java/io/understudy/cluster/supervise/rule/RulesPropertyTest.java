package io.understudy.cluster.supervise.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.plan.Step;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.etcd.EtcdVersion;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/**
 * Whatever happens to a simulated cluster: no change is made that those healthy then could not survive (checked at each
 * step by {@link Simulated}), it returns to its shape once machines work again, and then stays as it is.
 *
 * <p>Tests invariant DP22.
 */
final class RulesPropertyTest {

    private static final Limits LIMITS = new Limits(
            Duration.ofSeconds(10), 100, Duration.ofSeconds(3), Duration.ofSeconds(30), Duration.ofSeconds(20), 1_000);

    private enum Kind {
        KILL,
        REVIVE,
        BREAK,
        STALL,
        FORGET
    }

    private record Event(Kind kind, int machine, int seconds) {}

    @Provide
    Arbitrary<List<Event>> schedules() {
        return Combinators.combine(
                        Arbitraries.of(Kind.class),
                        Arbitraries.integers().between(0, 7),
                        Arbitraries.integers().between(0, 40))
                .as(Event::new)
                .list()
                .ofMaxSize(30);
    }

    @Property(tries = 40)
    void clustersSurviveAndReturnToTheirShape(
            @ForAll("schedules") List<Event> schedule,
            @ForAll @IntRange(min = 0, max = 2) int half,
            @ForAll boolean newer) {
        int wanted = 1 + 2 * half;
        Shape shape = new Shape(wanted, 1, Set.of(), false, newer ? 2 : 1);
        Simulated cluster = new Simulated(
                shape, LIMITS, EtcdVersion.parse(newer ? "3.6.5" : "3.5.30"), wanted + 3, wanted == 1 ? 1 : 3);
        for (Event event : schedule) {
            boolean quorumDies = event.kind() == Kind.KILL || event.kind() == Kind.BREAK || event.kind() == Kind.STALL;
            if (quorumDies && cluster.tolerance() < 1) {
                continue;
            }
            act(cluster, event);
            cluster.run(event.seconds());
            assertThat(cluster.isQuorumHeld()).as("quorum after %s", event).isTrue();
        }
        cluster.repairAll();
        cluster.runUntilSettled(3_600);
        assertThat(cluster.voters()).as("voters; last: %s", cluster.last()).isEqualTo(wanted);
        assertThat(cluster.learners()).as("learners; last: %s", cluster.last()).isEqualTo(1);
        int changes = cluster.changes().size();
        cluster.run(300);
        assertThat(cluster.changes()).as("changes of a settled cluster").hasSize(changes);
    }

    /** Even when machines die so that the quorum does, what the supervisor did was not why; then it does nothing. */
    @Property(tries = 40)
    void nothingIsChangedWithoutAQuorum(@ForAll("schedules") List<Event> schedule) {
        Simulated cluster =
                new Simulated(new Shape(3, 1, Set.of("m4"), true, 1), LIMITS, EtcdVersion.parse("3.5.30"), 5, 3);
        for (Event event : schedule) {
            act(cluster, event);
            for (int second = 0; second < event.seconds(); second++) {
                boolean held = cluster.isQuorumHeld();
                Decision decision = cluster.tick();
                assertThat(held || !(decision instanceof Decision.Change change) || change.step() instanceof Step.Start)
                        .isTrue();
            }
        }
    }

    /** A machine on which nothing ever starts is tried less and less often, and no other member moves for it. */
    @Property(tries = 5)
    void aBrokenMachineCausesNoOscillation(@ForAll @IntRange(min = 0, max = 7) int which, @ForAll boolean five) {
        int wanted = five ? 5 : 3;
        Simulated cluster = new Simulated(
                new Shape(wanted, 1, Set.of(), false, 1), LIMITS, EtcdVersion.parse("3.5.30"), wanted + 2, 3);
        cluster.run(300);
        cluster.breakDown(which);
        cluster.run(300);
        cluster.changes().clear();
        cluster.run(3_600);
        assertThat(cluster.voters()).isEqualTo(wanted);
        assertThat(cluster.changes())
                .noneMatch(change -> change.step() instanceof Step.Promote)
                .hasSizeLessThan(30);
    }

    private static void act(Simulated cluster, Event event) {
        switch (event.kind()) {
            case KILL -> cluster.kill(event.machine());
            case REVIVE -> cluster.revive(event.machine());
            case BREAK -> cluster.breakDown(event.machine());
            case STALL -> cluster.stall(event.machine());
            case FORGET -> cluster.forget();
        }
    }
}
