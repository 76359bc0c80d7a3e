package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import java.util.List;
import java.util.Optional;

/**
 * Where a member may run.
 *
 * @param running whether its process is there; empty if only its operator knows
 * @param answers whether it could be asked: where not even that works, nothing could be started either
 */
public record Place(MemberSpec spec, Optional<Boolean> running, boolean answers) {

    /** One that could be asked. */
    public Place(MemberSpec spec, Optional<Boolean> running) {
        this(spec, running, true);
    }

    /** One that could not be asked. */
    public static Place mute(MemberSpec spec) {
        return new Place(spec, Optional.empty(), false);
    }

    public String name() {
        return spec.name();
    }

    /** The one that the member has the name of, or else the peer URL of. */
    static Optional<Place> of(MemberFacts member, List<Place> places) {
        return places.stream()
                .filter(place -> place.isNamesake(member))
                .findFirst()
                .or(() ->
                        places.stream().filter(place -> place.servesFor(member)).findFirst());
    }

    /** Whether that member may run here: nobody else is to, and whatever runs here may be it. */
    boolean holds(MemberFacts member) {
        return isNamesake(member) || servesFor(member);
    }

    /** Members that somebody else founded may have other names than their machines have here. */
    boolean isNamesake(MemberFacts member) {
        return member.name().equals(name());
    }

    /** Whether the others find that member here. */
    boolean servesFor(MemberFacts member) {
        return member.peerUrls().stream().anyMatch(spec.peerUrls()::contains);
    }

    boolean isKnownToBeDown() {
        return running.isPresent() && !running.get();
    }
}
