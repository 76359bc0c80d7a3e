package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.shape.Limits;
import java.time.Instant;
import java.util.Optional;

/**
 * What the looks so far tell of one member.
 *
 * @param place its name, or that of the machine it is to run on; empty if neither is known
 * @param servedAt the machine that has its peer URL
 * @param first when it was first seen in the member list
 * @param missingSince since when neither our probe nor a live member has reached it
 * @param readySince since when it has been healthy and no further behind than allowed
 * @param wasHealthy whether it ever was
 * @param outages how often it went missing
 */
record Seen(
        String place,
        Optional<String> servedAt,
        Instant first,
        Optional<Instant> missingSince,
        Optional<Instant> readySince,
        boolean wasHealthy,
        int outages) {

    static Seen first(String place, ClusterFacts facts) {
        return new Seen(place, Optional.empty(), facts.at(), Optional.empty(), Optional.empty(), false, 0);
    }

    Seen after(ClusterFacts facts, MemberFacts member, String placeNow, Optional<String> servedNow, Limits limits) {
        boolean missing = isMissing(facts, member);
        boolean ready = member.isHealthy()
                && facts.lag(member).filter(lag -> lag <= limits.maxLag()).isPresent();
        return new Seen(
                placeNow.isEmpty() ? place : placeNow,
                servedNow.or(() -> servedAt),
                first,
                since(missing, missingSince, facts.at()),
                since(ready, readySince, facts.at()),
                wasHealthy || member.isHealthy(),
                outages + (missing && missingSince.isEmpty() ? 1 : 0));
    }

    /** As if it had only now begun to be as it is: nobody looked for a while. */
    Seen afterPause() {
        return new Seen(place, servedAt, first, Optional.empty(), Optional.empty(), wasHealthy, outages);
    }

    private static Optional<Instant> since(boolean now, Optional<Instant> before, Instant at) {
        if (!now) {
            return Optional.empty();
        }
        return before.isPresent() ? before : Optional.of(at);
    }

    private static boolean isMissing(ClusterFacts facts, MemberFacts member) {
        return member.answer().isEmpty()
                && facts.members().stream()
                        .filter(other -> other.answer().isPresent())
                        .noneMatch(other -> other.peers().contains(member.id()));
    }
}
