package io.understudy.cluster.supervise;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.supervise.elect.Standing;
import io.understudy.cluster.supervise.rule.Decision;
import java.util.function.ToDoubleFunction;

/**
 * What a supervisor sees, as of its last look, and how it stands. Gauges: {@code understudy.cluster.voters}, {@code
 * .voters.healthy}, {@code .learners}, {@code .tolerance} (failures survived; negative without a quorum), {@code .settled} (1
 * if the cluster is as declared), {@code .supervisor.active} and {@code .supervisor.paused}.
 */
final class SupervisorMeters {

    private SupervisorMeters() {}

    static void register(Supervisor supervisor, MeterRegistry meters) {
        look(meters, supervisor, "voters", facts -> facts.quorum().voters());
        look(meters, supervisor, "voters.healthy", facts -> facts.quorum().healthy());
        look(meters, supervisor, "learners", facts -> facts.learners().size());
        look(meters, supervisor, "tolerance", facts -> facts.quorum().tolerance());
        gauge(
                meters,
                supervisor,
                "settled",
                state -> truth(state.last()
                        .filter(event -> event.decision() instanceof Decision.Settled)
                        .isPresent()));
        gauge(meters, supervisor, "supervisor.active", state -> truth(state.standing() instanceof Standing.Active));
        gauge(
                meters,
                supervisor,
                "supervisor.paused",
                state -> truth(state.paused().isPresent()));
    }

    private static void look(
            MeterRegistry meters, Supervisor supervisor, String name, ToDoubleFunction<ClusterFacts> value) {
        gauge(
                meters,
                supervisor,
                name,
                state -> state.facts().isPresent()
                        ? value.applyAsDouble(state.facts().get())
                        : Double.NaN);
    }

    private static void gauge(
            MeterRegistry meters, Supervisor supervisor, String name, ToDoubleFunction<SupervisorState> value) {
        Gauge.builder("understudy.cluster." + name, supervisor, known -> value.applyAsDouble(known.state()))
                .register(meters);
    }

    private static double truth(boolean is) {
        return is ? 1 : 0;
    }
}
