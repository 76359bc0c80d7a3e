package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.shape.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What the looks so far tell of one member.
 *
 * @param place its name, or that of the machine it is to run on; empty if neither is known
 * @param servedAt the machine that has its peer URL
 * @param first when it was first seen in the member list
 * @param missing empty if it was reached since
 * @param readySince since when it has been healthy and no further behind than allowed
 * @param wasHealthy whether it ever was
 */
record Seen(
        String place,
        Optional<String> servedAt,
        Instant first,
        Optional<Missing> missing,
        Optional<Instant> readySince,
        boolean wasHealthy) {

    static Seen first(String place, Instant at) {
        return new Seen(place, Optional.empty(), at, Optional.empty(), Optional.empty(), false);
    }

    /** @param gap nobody looked if the look before was longer ago */
    Seen after(Sighting sighting, String placeNow, Optional<String> servedNow, Limits limits, Duration gap) {
        return new Seen(
                placeNow.isEmpty() ? place : placeNow,
                servedNow.or(() -> servedAt),
                first,
                missingAfter(sighting, gap),
                sighting.isReady(limits) ? readySince.or(() -> Optional.of(sighting.at())) : Optional.empty(),
                wasHealthy || sighting.member().isHealthy());
    }

    /** As if it had only now begun to be ready: nobody looked for a while. */
    Seen afterPause() {
        return new Seen(place, servedAt, first, missing, Optional.empty(), wasHealthy);
    }

    Optional<Instant> missingSince() {
        return missing.map(Missing::since);
    }

    private Optional<Missing> missingAfter(Sighting sighting, Duration gap) {
        if (!sighting.isMissing()) {
            return Optional.empty();
        }
        // Without evidence it was not looked for.
        return sighting.isSound()
                ? Optional.of(missing.map(before -> before.again(sighting.at(), gap))
                        .orElseGet(() -> Missing.first(sighting.at())))
                : missing;
    }
}
