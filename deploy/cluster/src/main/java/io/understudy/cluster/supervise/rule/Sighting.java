package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.shape.Limits;
import java.time.Instant;

/**
 * A member in one observation.
 *
 * @param at start of the observation, by a clock that is never set
 */
record Sighting(ClusterFacts facts, MemberFacts member, Instant at) {

    boolean isReady(Limits limits) {
        return member.isHealthy()
                && facts.lag(member).filter(lag -> lag <= limits.maxLag()).isPresent();
    }
}
