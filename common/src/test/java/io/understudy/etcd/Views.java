package io.understudy.etcd;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.Arrays;
import java.util.List;

/** Views put together by hand, and what tests wait for in others. */
final class Views {

    static final ClusterId CLUSTER = new ClusterId(0xc1);
    static final MemberId LEADER = new MemberId(1);
    static final MemberId FOLLOWER = new MemberId(2);
    static final MemberId OTHER_FOLLOWER = new MemberId(3);
    static final MemberId LEARNER = new MemberId(4);
    static final MemberId GATEWAY = new MemberId(5);

    private Views() {}

    /** Three voters led by the first, a learner and a gateway. */
    static ClusterView everyone() {
        return of(
                voter(LEADER, Health.HEALTHY),
                voter(FOLLOWER, Health.HEALTHY),
                voter(OTHER_FOLLOWER, Health.HEALTHY),
                learner(Health.HEALTHY, "3.5.16"),
                gateway());
    }

    /**
     * Whether a member has answered and the member list is known too: it is by the list that an address leads to one
     * member alone, as a learner's read index requires.
     */
    static boolean isKnownWhole(Member member) {
        return member.health() == Health.HEALTHY && member.addresses().stream().allMatch(Member.Address::exclusive);
    }

    static ClusterView of(Member... members) {
        return new ClusterView(CLUSTER, Arrays.asList(members), LEADER, List.of(), List.of(), List.of(), null);
    }

    static Member voter(MemberId id, Health health) {
        return member(id, Role.VOTER, "3.5.16", address(id, health));
    }

    static Member learner(Health health, String version) {
        return member(LEARNER, Role.LEARNER, version, address(LEARNER, health));
    }

    static Member gateway() {
        return member(
                GATEWAY,
                Role.GATEWAY,
                "3.5.0+understudy",
                new Member.Address(endpoint(GATEWAY), false, Health.HEALTHY));
    }

    static Member member(MemberId id, Role role, String version, Member.Address... addresses) {
        return new Member(id, "n" + id, role, Arrays.asList(addresses), EtcdVersion.parse(version), 1, new Revision(1));
    }

    static Member.Address address(MemberId id, Health health) {
        return new Member.Address(endpoint(id), true, health);
    }

    /** Where the members above are. */
    static Endpoint endpoint(MemberId id) {
        return new Endpoint("10.0.0." + id.value(), 2379, false);
    }
}
