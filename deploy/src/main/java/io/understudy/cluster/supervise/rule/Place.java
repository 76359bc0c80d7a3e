package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import java.util.Optional;

/**
 * Where a member may run.
 *
 * @param running whether its process is there; empty if only its operator knows
 */
public record Place(MemberSpec spec, Optional<Boolean> running) {

    public String name() {
        return spec.name();
    }

    /** Whether that member runs here: by its name, or by where the others find it until it has one. */
    boolean holds(MemberFacts member) {
        return member.hasStarted()
                ? member.name().equals(name())
                : member.peerUrls().stream().anyMatch(spec.peerUrls()::contains);
    }

    boolean isKnownToBeDown() {
        return running.isPresent() && !running.get();
    }
}
