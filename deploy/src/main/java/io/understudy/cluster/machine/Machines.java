package io.understudy.cluster.machine;

import java.util.List;
import java.util.Optional;

/**
 * Where members run. One implementation for processes of this machine, one for systemd units, one that prints what an
 * operator is to do elsewhere and lets the caller wait for the effect. Methods return when the order was given; the effect
 * is seen in what members answer.
 */
public interface Machines {

    /** All places where a member may run, each with the name that its member has or would have. */
    List<MemberSpec> places();

    default Optional<MemberSpec> place(String name) {
        return places().stream().filter(place -> place.name().equals(name)).findFirst();
    }

    /**
     * Starts the member as one that joins; data of an earlier life is set aside, never deleted.
     *
     * @param initialCluster all members and itself, as {@code name=peerUrl,…}, in the form of etcd's command line
     */
    void join(MemberSpec member, String initialCluster);

    /** Starts the member with the data it has. */
    void start(MemberSpec member);

    /** Ends the member's process; its data stays. */
    void stop(MemberSpec member);

    /** Whether the member's process is there; empty if only its operator knows. */
    Optional<Boolean> isRunning(MemberSpec member);

    /**
     * Moves the data of one place to another, both of which are stopped. Does nothing if it is there already.
     *
     * @throws UnsupportedOperationException these machines can't
     */
    default void moveData(MemberSpec from, MemberSpec to) {
        throw new UnsupportedOperationException(
                "data can't be moved from " + from.name() + " to " + to.name() + " by us");
    }

    /** The last lines the member's process wrote, for people; none if they can't be seen from here. */
    default List<String> endOfLog(MemberSpec member) {
        return List.of();
    }
}
