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
 * The machines on which members may run, and the state of their processes. For one thread.
 *
 * <p>A machine that cannot be queried has an unknown state; it is not queried again for a while, since a query may take
 * seconds.
 */
final class Inventory {

    private static final Logger LOG = LoggerFactory.getLogger(Inventory.class);
    private static final Duration IN_PEACE = Duration.ofSeconds(30);

    private final List<MemberSpec> machines;
    private final Function<MemberSpec, Optional<Boolean>> isRunning;
    private final InstantSource clock;
    private final Map<String, Instant> failedAt = new HashMap<>();

    /** @param isRunning may throw, and take a while */
    Inventory(List<MemberSpec> machines, Function<MemberSpec, Optional<Boolean>> isRunning, InstantSource clock) {
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
