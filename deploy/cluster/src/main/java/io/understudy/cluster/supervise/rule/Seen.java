package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.supervise.rule.History.Sighting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The observations of one member so far.
 *
 * @param place its name, or that of the machine it is to run on; empty if neither is known
 * @param servedAt the machine that has its peer URL
 * @param first when it was first seen in the member list
 * @param fault empty while it is healthy
 * @param downSince when its process was first known to have ended; empty once it is healthy
 * @param flaps ends of its recent faults
 * @param readySince since when it has been healthy and no further behind than allowed
 * @param wasHealthy whether it ever was
 */
record Seen(
        String place,
        Optional<String> servedAt,
        Instant first,
        Optional<Fault> fault,
        Optional<Instant> downSince,
        List<Instant> flaps,
        Optional<Instant> readySince,
        boolean wasHealthy) {

    /** Faults count as flaps for so many times {@code shape.deadTime}. */
    private static final int FLAP_WINDOW = 20;

    Seen {
        flaps = List.copyOf(flaps);
    }

    static Seen first(String place, Instant at) {
        return new Seen(
                place, Optional.empty(), at, Optional.empty(), Optional.empty(), List.of(), Optional.empty(), false);
    }

    /** @param gap observations further apart than this are not continuous */
    Seen after(Sighting sighting, String placeNow, Optional<String> servedNow, Limits limits, Duration gap) {
        Optional<Fault> next = faultAfter(sighting, gap);
        boolean ended = wasHealthy && fault.isPresent() && next.isEmpty();
        Instant oldest = sighting.at().minus(limits.dead().multipliedBy(FLAP_WINDOW));
        return new Seen(
                placeNow.isEmpty() ? place : placeNow,
                servedNow.or(() -> servedAt),
                first,
                next,
                downAfter(sighting),
                Stream.concat(flaps.stream(), ended ? Stream.of(sighting.at()) : Stream.of())
                        .filter(flap -> flap.isAfter(oldest))
                        .toList(),
                sighting.isReady(limits) ? readySince.or(() -> Optional.of(sighting.at())) : Optional.empty(),
                wasHealthy || sighting.member().isHealthy());
    }

    /** Restarts the times it has been ready or down, since it was not observed for a while. */
    Seen afterPause() {
        return new Seen(place, servedAt, first, fault, Optional.empty(), flaps, Optional.empty(), wasHealthy);
    }

    private Optional<Instant> downAfter(Sighting sighting) {
        return sighting.member().isHealthy()
                ? Optional.empty()
                : downSince.or(() -> Optional.of(sighting.at()).filter(at -> sighting.isDown()));
    }

    private Optional<Fault> faultAfter(Sighting sighting, Duration gap) {
        if (sighting.member().isHealthy()) {
            return Optional.empty();
        }
        // Without the leader's measurements an observation proves nothing.
        return Diagnosis.isConclusive(sighting.facts(), sighting.member())
                ? Optional.of(fault.map(before -> before.again(sighting.at(), gap))
                        .orElseGet(() -> Fault.first(sighting.at())))
                : fault;
    }

    /**
     * Consecutive observations of a member without linearizable reads, while the leader could confirm it.
     *
     * @param since the first of them
     * @param last the last of them
     * @param looks number of observations
     */
    record Fault(Instant since, Instant last, int looks) {

        /** Minimum observations: a pause of the supervisor has fewer. */
        private static final int LEAST_LOOKS = 3;

        static Fault first(Instant at) {
            return new Fault(at, at, 1);
        }

        /** Returns the fault with one more observation; a longer gap starts a new fault. */
        Fault again(Instant at, Duration gap) {
            return Duration.between(last, at).compareTo(gap) > 0 ? first(at) : new Fault(since, at, looks + 1);
        }

        /** Whether the fault has lasted until that observation, and long enough. */
        boolean lasted(Duration least, Instant now) {
            return last.equals(now)
                    && looks >= LEAST_LOOKS
                    && !since.plus(least).isAfter(now);
        }
    }
}
