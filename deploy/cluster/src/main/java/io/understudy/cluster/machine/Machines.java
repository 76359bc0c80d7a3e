package io.understudy.cluster.machine;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

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
     * Starts the member as one of the first of a new cluster; existing data is renamed, never deleted.
     *
     * @param initialCluster all first members, as {@code name=peerUrl,…}
     * @param token distinguishes the cluster from others with the same members
     */
    void found(MemberSpec member, String initialCluster, String token);

    /** Starts the first members of a new cluster, see {@link #found}. */
    default void foundAll(List<MemberSpec> members, String token) {
        String initialCluster = MemberSpec.initialCluster(members);
        members.forEach(member -> found(member, initialCluster, token));
    }

    /**
     * Starts a joining member, unless it runs already; existing data is renamed, never deleted.
     *
     * @param initialCluster all members and itself, as {@code name=peerUrl,…}, in the form of etcd's command line
     */
    void join(MemberSpec member, String initialCluster);

    /** Resumes a {@link #join} of an earlier run, at the same throttled rate. */
    default void resumeJoining(MemberSpec member) {}

    /** For one that joined, and is to serve like any other from now on: nothing holds it back any more. */
    default void letGo(MemberSpec member) {}

    /** Bytes of the cluster's data that a member has got by now of what it is being sent; empty if nothing, or unknown. */
    default OptionalLong received(MemberSpec member) {
        return OptionalLong.empty();
    }

    /** Starts the member with the data it has. */
    void start(MemberSpec member);

    /** Starts the member with the data it has, once with other settings than those configured. */
    default void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        throw new UnsupportedOperationException("cannot start " + member.name() + " with other settings");
    }

    /**
     * Why the member's program does not run; empty if it does, or if that cannot be seen from here.
     *
     * @param settings as in {@link #start}
     */
    default Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        return Optional.empty();
    }

    /** Ends the member's process; its data stays. */
    void stop(MemberSpec member);

    /** Ends the process of one that is no member any more; its data is set aside, never deleted. */
    void retire(MemberSpec member);

    /** Keeps a copy of the data of a member that doesn't run, beside it. */
    void copyData(MemberSpec member);

    /** Whether the member's process runs; empty if this machine cannot see it. */
    Optional<Boolean> isRunning(MemberSpec member);

    /** Bytes left on the disk of the member's data; empty if it is on another machine. */
    default OptionalLong freeBytes(MemberSpec member) {
        return OptionalLong.empty();
    }

    /** Whether a process uses the member's data directory, however it was started. */
    default boolean isInUse(MemberSpec member) {
        return isRunning(member).orElse(false);
    }

    /** The member that owns the data in this one's data directory; empty if there are none, or they cannot be read. */
    default Optional<DataOwner> owner(MemberSpec member) {
        return Optional.empty();
    }

    /** Why {@link #moveData} would fail after a stop of the first; empty if it would not, or if that cannot be seen from here. */
    default Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        return Optional.empty();
    }

    /**
     * Moves the data of one place to another, both of which are stopped. Does nothing if it is there already.
     *
     * @throws UnsupportedOperationException these machines can't
     */
    default void moveData(MemberSpec from, MemberSpec to) {
        throw new UnsupportedOperationException(
                "cannot move data from " + from.name() + " to " + to.name() + "; move it manually");
    }

    /** The last lines the member's process wrote, for people; none if they can't be seen from here. */
    default List<String> endOfLog(MemberSpec member) {
        return List.of();
    }
}
