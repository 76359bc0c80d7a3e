package io.understudy.cluster.plan;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.etcd.Alarm;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One change to a cluster, of which only one is under way at any time. */
public sealed interface Step {

    /** Returns the step in words, such as {@code promote voter-4}. */
    String text();

    /** Returns the listed member of the step. */
    default Optional<MemberId> subject() {
        return Optional.empty();
    }

    /** A step of a listed member. */
    sealed interface OfMember extends Step {

        MemberId id();

        @Override
        default Optional<MemberId> subject() {
            return Optional.of(id());
        }
    }

    /** Returns the place of the affected process; empty for none. */
    default Optional<MemberSpec> place() {
        if (this instanceof AddLearner add) {
            return Optional.of(add.member());
        }
        if (this instanceof Join join) {
            return Optional.of(join.member());
        }
        if (this instanceof Start start) {
            return Optional.of(start.member());
        }
        if (this instanceof Restart restart) {
            return Optional.of(restart.member());
        }
        if (this instanceof Retire retire) {
            return Optional.of(retire.member());
        }
        return this instanceof Migrate migrate ? Optional.of(migrate.from()) : Optional.empty();
    }

    /** Returns the failure of a completed step that is planned again. */
    default String inVain() {
        return "the step was completed and is planned again: " + text();
    }

    /** Adds a member to the member list as a learner, which does not vote. */
    record AddLearner(MemberSpec member) implements Step {
        @Override
        public String text() {
            return "add " + member.name() + " as a learner at " + joined(member.peerUrls());
        }
    }

    /** Starts a member that etcd expects, and waits until it serves. */
    record Join(MemberSpec member, MemberId id) implements OfMember {
        @Override
        public String text() {
            return "start " + member.name() + " without data and wait until it serves";
        }
    }

    /** Starts a member with its data, and waits until it serves. */
    record Start(MemberSpec member) implements Step {
        @Override
        public String text() {
            return "start " + member.name() + " with its existing data and wait until it serves";
        }
    }

    /** Waits until a learner has caught up with the leader. */
    record CatchUp(MemberId id, String label) implements OfMember {
        @Override
        public String text() {
            return "wait until " + label + " is in sync with the leader";
        }
    }

    /** Promotes a learner to a voter. */
    record Promote(MemberId id, String label) implements OfMember {
        @Override
        public String text() {
            return "promote " + label;
        }
    }

    /** Moves leadership to another voter, of that ID. */
    record MoveLeader(MemberId from, MemberId id, String label) implements OfMember {
        @Override
        public String text() {
            return "move leadership to " + label;
        }
    }

    /** Removes a member for good: its ID never returns. */
    record Remove(MemberId id, String label) implements OfMember {
        @Override
        public String text() {
            return "remove " + label + " permanently";
        }
    }

    /**
     * Restarts a member's process on the same data.
     *
     * @param version version installed on its machine; null for the previous one
     * @param program server to start; empty for the configured one
     * @param writesRaftSnapshot whether it writes raft snapshots until its next start, the first before it serves
     */
    record Restart(
            MemberSpec member,
            MemberId id,
            @Nullable EtcdVersion version,
            Optional<Path> program,
            boolean writesRaftSnapshot)
            implements OfMember {

        public Restart(MemberSpec member, MemberId id) {
            this(member, id, null, Optional.empty(), false);
        }

        /** Whether it starts otherwise than configured. */
        public boolean isChanged() {
            return program.isPresent() || writesRaftSnapshot;
        }

        @Override
        public String text() {
            return "restart " + member.name() + (version == null ? "" : " as " + version)
                    + (writesRaftSnapshot ? " with --snapshot-count=1" : "") + " and wait until it serves";
        }

        @Override
        public String inVain() {
            return version == null
                    ? OfMember.super.inVain()
                    : member.name() + " was restarted but does not have version " + version
                            + ": install it on its machine first";
        }
    }

    /** Stops the process of a removed member; its data is set aside. */
    record Retire(MemberSpec member) implements Step {
        @Override
        public String text() {
            return "stop removed member " + member.name();
        }
    }

    /** Updates the peer URLs of a member in the member list. */
    record UpdatePeerUrls(MemberId id, String label, List<URI> peerUrls) implements OfMember {
        public UpdatePeerUrls {
            peerUrls = List.copyOf(peerUrls);
        }

        @Override
        public String text() {
            return "update the peer URLs of " + label + " to " + joined(peerUrls);
        }
    }

    /** Moves a member with its ID and data to another place, by a restart. */
    record Migrate(MemberSpec from, MemberSpec to, MemberId id) implements OfMember {
        @Override
        public String text() {
            return "stop " + from.name() + ", move its data and start it as " + to.name();
        }
    }

    /** Deletes old revisions, so that defragmenting frees their space. */
    record Compact(Revision revision) implements Step {
        @Override
        public String text() {
            return "compact to revision " + revision + "; watchers that are behind must read the keys again";
        }
    }

    /** Makes a member rewrite its database file; it serves nothing meanwhile. */
    record Defragment(MemberId id, String label) implements OfMember {
        @Override
        public String text() {
            return "defragment " + label;
        }
    }

    /** Disarms an alarm. */
    record Disarm(Alarm alarm, String label) implements Step {
        @Override
        public String text() {
            return "disarm " + alarm.kind() + " of " + label;
        }
    }

    /**
     * Lets members of an earlier minor version join, which lowers the storage version of all members; or ends that.
     *
     * @param version target, such as {@code 3.6.0}; empty to cancel
     */
    record Downgrade(String version) implements Step {
        @Override
        public String text() {
            return version.isEmpty()
                    ? "cancel the downgrade"
                    : "enable the downgrade to " + version + " and wait until all data have this storage version";
        }
    }

    /** Returns the URLs as on etcd's command line. */
    static String joined(List<URI> urls) {
        return urls.stream().map(URI::toString).collect(joining(","));
    }
}
