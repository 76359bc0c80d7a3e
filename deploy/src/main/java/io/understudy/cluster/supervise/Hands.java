package io.understudy.cluster.supervise;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.membership.OutcomeUnknownException;
import io.understudy.cluster.membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.stream.Stream;

/** Takes a step, and does not wait for what comes of it: the next looks tell. */
final class Hands {

    private final Membership membership;
    private final Machines machines;

    Hands(Membership membership, Machines machines) {
        this.membership = membership;
        this.machines = machines;
    }

    void take(Step step, ClusterFacts facts) throws RefusedException, OutcomeUnknownException {
        if (step instanceof Step.AddLearner add) {
            membership.addLearner(add.member().peerUrls());
        } else if (step instanceof Step.Promote promote) {
            membership.promote(promote.learner());
        } else if (step instanceof Step.Remove remove) {
            membership.remove(remove.member());
        } else if (step instanceof Step.Join join) {
            machines.join(join.member(), initialCluster(facts, join.member(), join.id()));
        } else if (step instanceof Step.Start start) {
            machines.start(start.member());
        } else if (step instanceof Step.Retire retire) {
            machines.stop(retire.member());
        } else {
            throw new IllegalStateException("no rule asks for " + step);
        }
    }

    /** Every member and the newcomer: exactly those, or etcd does not start it. */
    private static String initialCluster(ClusterFacts facts, MemberSpec newcomer, MemberId id) {
        return facts.members().stream()
                .flatMap(member -> urls(member, newcomer, id))
                .collect(joining(","));
    }

    private static Stream<String> urls(MemberFacts member, MemberSpec newcomer, MemberId id) {
        String name = member.id().equals(id) ? newcomer.name() : member.label();
        return member.peerUrls().stream().map(URI::toString).map(url -> name + "=" + url);
    }
}
