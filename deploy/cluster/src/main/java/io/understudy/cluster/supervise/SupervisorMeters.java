package io.understudy.cluster.supervise;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.etcd.Alarm;
import io.understudy.vocabulary.ElectionState;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The meters of a supervisor: its last observation and its election state. */
final class SupervisorMeters {

    private static final String OTHER = "other";
    private static final List<String> ALARMS = List.of("NOSPACE", "CORRUPT", OTHER);

    private SupervisorMeters() {}

    static void register(Supervisor supervisor, Machines machines, MeterRegistry meters) {
        look(meters, supervisor, ClusterMeter.VOTERS, facts -> facts.quorum().voters());
        look(meters, supervisor, ClusterMeter.VOTERS_HEALTHY, facts -> facts.quorum()
                .healthy());
        look(meters, supervisor, ClusterMeter.LEARNERS, facts -> facts.learners()
                .size());
        look(meters, supervisor, ClusterMeter.LEARNERS_LAG, SupervisorMeters::learnersLag);
        ClusterMeter.LEARNERS_RECEIVED
                .gauge(machines, SupervisorMeters::received)
                .register(meters);
        look(meters, supervisor, ClusterMeter.TOLERANCE, facts -> facts.quorum().tolerance());
        look(meters, supervisor, ClusterMeter.MEMBERS_DIFFERING, facts -> facts.divergence()
                .members()
                .size());
        for (String kind : ALARMS) {
            look(meters, supervisor, ClusterMeter.ALARMS, Tags.of("kind", kind), facts -> facts.raised().stream()
                    .map(Alarm::kind)
                    .filter(each -> kind.equals(ALARMS.contains(each) ? each : OTHER))
                    .count());
        }
        look(meters, supervisor, ClusterMeter.DATABASE_FILL, facts -> facts.members().stream()
                .flatMap(member -> member.databaseFill().stream())
                .max(Double::compare)
                .orElse(Double.NaN));
        gauge(
                meters,
                supervisor,
                ClusterMeter.SETTLED,
                Tags.empty(),
                state -> truth(state.last()
                        .filter(event -> event.decision() instanceof Decision.Settled)
                        .isPresent()));
        gauge(
                meters,
                supervisor,
                ClusterMeter.SUPERVISOR_ACTIVE,
                Tags.empty(),
                state -> truth(state.standing() instanceof ElectionState.Active));
        gauge(
                meters,
                supervisor,
                ClusterMeter.SUPERVISOR_PAUSED,
                Tags.empty(),
                state -> truth(state.paused().isPresent()));
    }

    private static double learnersLag(ClusterFacts facts) {
        long first = revisions(facts.members().stream().filter(MemberFacts::isVoter))
                .max()
                .orElse(0);
        long last = revisions(facts.learners().stream()).min().orElse(first);
        return Math.max(0, first - last);
    }

    private static double received(Machines machines) {
        return machines.places().stream()
                .map(machines::received)
                .flatMapToLong(OptionalLong::stream)
                .sum();
    }

    private static LongStream revisions(Stream<MemberFacts> members) {
        return members.flatMap(member -> member.answer().stream())
                .mapToLong(answer -> answer.revision().value());
    }

    private static void look(
            MeterRegistry meters, Supervisor supervisor, ClusterMeter meter, ToDoubleFunction<ClusterFacts> value) {
        look(meters, supervisor, meter, Tags.empty(), value);
    }

    private static void look(
            MeterRegistry meters,
            Supervisor supervisor,
            ClusterMeter meter,
            Tags tags,
            ToDoubleFunction<ClusterFacts> value) {
        gauge(
                meters,
                supervisor,
                meter,
                tags,
                state -> state.facts().isPresent()
                        ? value.applyAsDouble(state.facts().get())
                        : Double.NaN);
    }

    private static void gauge(
            MeterRegistry meters,
            Supervisor supervisor,
            ClusterMeter meter,
            Tags tags,
            ToDoubleFunction<SupervisorState> value) {
        meter.gauge(supervisor, known -> value.applyAsDouble(known.state()))
                .tags(tags)
                .register(meters);
    }

    private static double truth(boolean is) {
        return is ? 1 : 0;
    }
}
