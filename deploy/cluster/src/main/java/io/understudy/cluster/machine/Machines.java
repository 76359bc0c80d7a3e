package io.understudy.cluster.machine;

import io.understudy.etcd.EtcdVersion;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The machines of members. Implementations control processes and systemd units of this machine, or print instructions
 * for an operator elsewhere. Methods return when the order was given; the effect shows in the responses of members.
 */
public interface Machines {

    /** Returns all places where a member may run, with the member's name. */
    List<MemberSpec> places();

    default Optional<MemberSpec> place(String name) {
        return places().stream().filter(place -> place.name().equals(name)).findFirst();
    }

    /**
     * Starts the member as one of the first of a new cluster. Existing data is renamed, never deleted.
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
     * Starts a joining member; fails if it is running. Existing data is renamed, never deleted.
     *
     * @param initialCluster all members and itself, as {@code name=peerUrl,…}, in the form of etcd's command line
     */
    void join(MemberSpec member, String initialCluster);

    /** Resumes a {@link #join} of an earlier run, at the same throttled rate. */
    default void resumeJoining(MemberSpec member) {}

    /** Ends the limits of a member that has joined. */
    default void letGo(MemberSpec member) {}

    /**
     * Has a member that runs with its data start with data only, from the next start of the host on. Flags of its first
     * start would let it start empty under its ID. Idempotent; does nothing before the member has data.
     */
    default void endFirstStart(MemberSpec member) {}

    /** Returns the received bytes of the member's current snapshot; empty if none, or unknown. */
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
     * Returns why the member's program does not run; empty if it does, or if unknown.
     *
     * @param settings as in {@link #start}
     */
    default Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        return Optional.empty();
    }

    /** Returns the version of the member's configured program; unknown on another machine. */
    default EtcdVersion programVersion(MemberSpec member) {
        return EtcdVersion.UNKNOWN;
    }

    /** Returns the limit of learners of the member's process ({@code --max-learners}); empty if unknown. */
    default Optional<String> maxLearners(MemberSpec member) {
        return Optional.empty();
    }

    /** Stops the member's process; its data stays. */
    void stop(MemberSpec member);

    /** Stops the process of a removed member; its data is set aside, never deleted. */
    void retire(MemberSpec member);

    /** Copies the data of a stopped member, beside it. */
    void copyData(MemberSpec member);

    /** Whether the member's process runs; empty if unknown to this machine. */
    Optional<Boolean> isRunning(MemberSpec member);

    /** Returns the free bytes on the disk of the member's data; empty on another machine. */
    default OptionalLong freeBytes(MemberSpec member) {
        return OptionalLong.empty();
    }

    /** Whether a process uses the member's data directory, however it was started. */
    default boolean isInUse(MemberSpec member) {
        return isRunning(member).orElse(false);
    }

    /** Returns the owner of the data in this member's directory. Empty if there is none, or it is unreadable. */
    default Optional<DataOwner> owner(MemberSpec member) {
        return Optional.empty();
    }

    /**
     * Returns why data in this member's directory could not be renamed for a start without data. Empty if it could, or if
     * unknown.
     */
    default Optional<String> setAsideFailure(MemberSpec member) {
        return Optional.empty();
    }

    /** Returns why {@link #moveData} would fail after a stop of the first. Empty if it would not, or if unknown. */
    default Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        return Optional.empty();
    }

    /**
     * Moves the data of one stopped place to another. Does nothing if it is there already.
     *
     * @throws UnsupportedOperationException not supported by these machines
     */
    default void moveData(MemberSpec from, MemberSpec to) {
        throw new UnsupportedOperationException(
                "cannot move data from " + from.name() + " to " + to.name() + "; move it manually");
    }

    /** Returns the last log lines of the member's process; none if not visible here. */
    default List<String> endOfLog(MemberSpec member) {
        return List.of();
    }

    /** A machine did not carry out a request in time; it may still do so. */
    final class MachineBusyException extends IllegalStateException {
        private final transient @Nullable CompletableFuture<?> end;

        /** @param end completes when the order has ended; null for a read, or if it has not begun and never will */
        MachineBusyException(String message, @Nullable CompletableFuture<?> end) {
            super(message);
            this.end = end;
        }

        /**
         * Returns a future that completes when the order has ended. Null for a read, or if it has not begun and never will.
         */
        public @Nullable CompletableFuture<?> end() {
            return end;
        }

        /** Returns this failure for an order that is only part of another, without its end. */
        public MachineBusyException ofPart() {
            MachineBusyException part = new MachineBusyException(String.valueOf(getMessage()), null);
            part.initCause(this);
            return part;
        }
    }
}
