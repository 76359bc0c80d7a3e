package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import java.util.List;
import java.util.Optional;

/**
 * A place where a member may run.
 *
 * @param running whether its process runs; empty if this machine cannot see it
 * @param answers whether its state could be read and its program runs; otherwise starts are impossible
 * @param owner of its data, if a process runs without a listed member and the data are readable
 * @param outdated why its stopped member could not, or must not, start with the configured program; else empty
 */
public record Place(
        MemberSpec spec,
        Optional<Boolean> running,
        boolean answers,
        Optional<DataOwner> owner,
        Optional<String> outdated) {

    /** A place with a state that could be read. */
    public Place(MemberSpec spec, Optional<Boolean> running) {
        this(spec, running, true, Optional.empty(), Optional.empty());
    }

    /** A place with a state that could not be read. */
    public static Place mute(MemberSpec spec) {
        return new Place(spec, Optional.empty(), false, Optional.empty(), Optional.empty());
    }

    public String name() {
        return spec.name();
    }

    /** Returns the place with the member's name, or else its peer URL. */
    static Optional<Place> of(MemberFacts member, List<Place> places) {
        return places.stream()
                .filter(place -> place.isNamesake(member))
                .findFirst()
                .or(() ->
                        places.stream().filter(place -> place.servesFor(member)).findFirst());
    }

    /** Whether this is the member's place: no other may run here. */
    boolean holds(MemberFacts member) {
        return isNamesake(member) || servesFor(member);
    }

    /** Whether the names are equal; members of a cluster founded elsewhere may have others. */
    boolean isNamesake(MemberFacts member) {
        return member.name().equals(name());
    }

    /** Whether the member has a peer URL of this place. */
    boolean servesFor(MemberFacts member) {
        return member.peerUrls().stream().anyMatch(spec.peerUrls()::contains);
    }

    boolean isKnownToBeDown() {
        return running.isPresent() && !running.get();
    }
}
