package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import java.util.List;
import java.util.Optional;

/**
 * Where a member may run.
 *
 * @param running whether its process runs; empty if this machine cannot see it
 * @param answers whether its state could be read; if not, nothing could be started either
 */
public record Place(MemberSpec spec, Optional<Boolean> running, boolean answers) {

    /** A place with a state that could be read. */
    public Place(MemberSpec spec, Optional<Boolean> running) {
        this(spec, running, true);
    }

    /** A place with a state that could not be read. */
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

    /** Whether that member may run here: then no other one may, and a process here may be its. */
    boolean holds(MemberFacts member) {
        return isNamesake(member) || servesFor(member);
    }

    /** Members of a cluster founded elsewhere may have other names than their machines have here. */
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
