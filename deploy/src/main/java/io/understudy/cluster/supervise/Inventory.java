package io.understudy.cluster.supervise;

import io.understudy.cluster.machine.MachineBusyException;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.supervise.rule.Place;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where members may run, and which processes are there. A machine that can't be asked is one of which nothing is known; it
 * is left in peace for a while, as asking may take seconds and the others are waiting. For one thread.
 */
final class Ground {

    private static final Logger LOG = LoggerFactory.getLogger(Ground.class);
    private static final Duration IN_PEACE = Duration.ofSeconds(30);

    private final List<MemberSpec> machines;
    private final Function<MemberSpec, Optional<Boolean>> isRunning;
    private final InstantSource clock;
    private final Map<String, Instant> failedAt = new HashMap<>();

    /** @param isRunning may throw, and take a while */
    Ground(List<MemberSpec> machines, Function<MemberSpec, Optional<Boolean>> isRunning, InstantSource clock) {
        this.machines = List.copyOf(machines);
        this.isRunning = isRunning;
        this.clock = clock;
    }

    List<Place> places() {
        return machines.stream().map(this::place).toList();
    }

    private Place place(MemberSpec place) {
        Instant failed = failedAt.get(place.name());
        if (failed != null && failed.plus(IN_PEACE).isAfter(clock.instant())) {
            return Place.mute(place);
        }
        try {
            Optional<Boolean> running = isRunning.apply(place);
            if (failedAt.remove(place.name()) != null) {
                LOG.atInfo().addKeyValue("machine", place.name()).log("process state available again");
            }
            return new Place(place, running);
        } catch (MachineBusyException e) {
            return Place.mute(place);
        } catch (RuntimeException e) {
            if (failedAt.put(place.name(), clock.instant()) == null) {
                LOG.atWarn()
                        .addKeyValue("machine", place.name())
                        .addKeyValue("cause", e.getMessage())
                        .log("cannot read the process state");
            }
            return Place.mute(place);
        }
    }
}
