package io.understudy.cluster.supervise;

import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.Machines.MachineBusyException;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.supervise.rule.Place;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
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
 * <p>A machine that cannot be queried, or that could start no member, has an unknown state. It is not queried again for a
 * while, since a query may take seconds.
 */
final class Inventory {

    private static final Logger LOG = LoggerFactory.getLogger(Inventory.class);
    private static final Duration IN_PEACE = Duration.ofSeconds(30);

    private final List<MemberSpec> machines;
    private final Function<MemberSpec, Optional<Boolean>> isRunning;
    private final Function<MemberSpec, Optional<String>> joinFailure;
    private final Function<MemberSpec, Optional<String>> outdated;
    private final Function<MemberSpec, Optional<DataOwner>> owner;
    private final InstantSource clock;
    private final Map<String, Instant> failedAt = new HashMap<>();
    private final Map<String, Instant> programRanAt = new HashMap<>();
    private final Map<String, Checked> checked = new HashMap<>();

    /** A program of a stopped member. */
    private record Checked(Instant at, Optional<String> outdated) {}

    /**
     * @param isRunning may throw, and take a while
     * @param joinFailure why no member could join; may throw, and take a while
     * @param outdated why the program does not suit this cluster; may throw, and take a while
     * @param owner of the data; may throw, and take a while
     */
    Inventory(
            List<MemberSpec> machines,
            Function<MemberSpec, Optional<Boolean>> isRunning,
            Function<MemberSpec, Optional<String>> joinFailure,
            Function<MemberSpec, Optional<String>> outdated,
            Function<MemberSpec, Optional<DataOwner>> owner,
            InstantSource clock) {
        this.machines = List.copyOf(machines);
        this.isRunning = isRunning;
        this.joinFailure = joinFailure;
        this.outdated = outdated;
        this.owner = owner;
        this.clock = clock;
    }

    /** @param free machines without a member; their programs must run before a member is removed for them */
    List<Place> places(Collection<MemberSpec> free) {
        return machines.stream()
                .map(machine -> place(machine, free.contains(machine)))
                .toList();
    }

    private Place place(MemberSpec place, boolean isFree) {
        if (isRecent(failedAt, place)) {
            return Place.mute(place);
        }
        try {
            Optional<Boolean> running = isRunning.apply(place);
            if (isFree && running.equals(Optional.of(false)) && !isRecent(programRanAt, place)) {
                joinFailure.apply(place).or(() -> outdated.apply(place)).ifPresent(why -> {
                    throw new IllegalStateException(why);
                });
                programRanAt.put(place.name(), clock.instant());
            }
            if (failedAt.remove(place.name()) != null) {
                LOG.atInfo().addKeyValue("machine", place.name()).log("machine usable again");
            }
            boolean isUnlisted = isFree && running.orElse(false);
            return new Place(
                    place,
                    running,
                    true,
                    isUnlisted ? owner.apply(place) : Optional.empty(),
                    isFree || !running.equals(Optional.of(false)) ? Optional.empty() : outdated(place));
        } catch (MachineBusyException e) {
            return Place.mute(place);
        } catch (RuntimeException e) {
            if (failedAt.put(place.name(), clock.instant()) == null) {
                LOG.atWarn()
                        .addKeyValue("machine", place.name())
                        .addKeyValue("cause", e.getMessage())
                        .log("machine not usable: no process state, no program, or fixed data");
            }
            return Place.mute(place);
        }
    }

    private Optional<String> outdated(MemberSpec place) {
        Checked last = checked.get(place.name());
        if (last == null || last.at().plus(IN_PEACE).isBefore(clock.instant())) {
            last = new Checked(clock.instant(), outdated.apply(place));
            checked.put(place.name(), last);
        }
        return last.outdated();
    }

    private boolean isRecent(Map<String, Instant> times, MemberSpec place) {
        Instant at = times.get(place.name());
        return at != null && at.plus(IN_PEACE).isAfter(clock.instant());
    }
}
