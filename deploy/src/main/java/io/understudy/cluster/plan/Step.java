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

    /** In words, such as {@code promote voter-4}. */
    String text();

    /** The listed member that it is about. */
    default Optional<MemberId> subject() {
        return Optional.empty();
    }

    /** Where a process is started or stopped for it; empty if nowhere. */
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

    /** What is wrong where it had its effect, and the same is wanted again. */
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

    /** The process of a member that etcd expects starts, and is waited for until it serves. */
    record Join(MemberSpec member, MemberId id) implements Step {
        @Override
        public String text() {
            return "start " + member.name() + " without data and wait until it serves";
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(id);
        }
    }

    /** The process of a member that has data starts, and is waited for until it serves. */
    record Start(MemberSpec member) implements Step {
        @Override
        public String text() {
            return "start " + member.name() + " with its existing data and wait until it serves";
        }
    }

    /** A learner is waited for until it has applied what the leader had. */
    record CatchUp(MemberId learner, String label) implements Step {
        @Override
        public String text() {
            return "wait until " + label + " is in sync with the leader";
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(learner);
        }
    }

    /** A learner becomes a voter. */
    record Promote(MemberId learner, String label) implements Step {
        @Override
        public String text() {
            return "promote " + label;
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(learner);
        }
    }

    /** Another voter leads. */
    record MoveLeader(MemberId from, MemberId to, String label) implements Step {
        @Override
        public String text() {
            return "move leadership to " + label;
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(to);
        }
    }

    /** A member is no member any more, for good: its id never comes back. */
    record Remove(MemberId member, String label) implements Step {
        @Override
        public String text() {
            return "remove " + label + " permanently";
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(member);
        }
    }

    /**
     * A member's process ends and starts again, on the same data.
     *
     * @param version of what is in place on its machine by now; null for the one it had
     * @param program server to start; empty for the configured one
     * @param writesRaftSnapshot whether it has to write raft snapshots until its next start, the first before it serves
     */
    record Restart(
            MemberSpec member,
            MemberId id,
            @Nullable EtcdVersion version,
            Optional<Path> program,
            boolean writesRaftSnapshot)
            implements Step {

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
                    ? Step.super.inVain()
                    : member.name() + " was restarted but does not have version " + version
                            + ": install it on its machine first";
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(id);
        }
    }

    /** The process of one that is no member any more ends; its data is set aside. */
    record Retire(MemberSpec member) implements Step {
        @Override
        public String text() {
            return "stop removed member " + member.name();
        }
    }

    /** Updates the peer URLs of a member in the member list. */
    record UpdatePeerUrls(MemberId member, String label, List<URI> peerUrls) implements Step {
        public UpdatePeerUrls {
            peerUrls = List.copyOf(peerUrls);
        }

        @Override
        public String text() {
            return "update the peer URLs of " + label + " to " + joined(peerUrls);
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(member);
        }
    }

    /** Moves a member with its id and its data: stops it, moves its data, and starts it elsewhere. */
    record Migrate(MemberSpec from, MemberSpec to, MemberId id) implements Step {
        @Override
        public String text() {
            return "stop " + from.name() + ", move its data and start it as " + to.name();
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(id);
        }
    }

    /** Old revisions are deleted, so that defragmenting frees their space. */
    record Compact(Revision revision) implements Step {
        @Override
        public String text() {
            return "compact to revision " + revision + "; watchers that are behind must read the keys again";
        }
    }

    /** A member rewrites its database file, and serves nothing meanwhile. */
    record Defragment(MemberId member, String label) implements Step {
        @Override
        public String text() {
            return "defragment " + label;
        }

        @Override
        public Optional<MemberId> subject() {
            return Optional.of(member);
        }
    }

    /** An alarm is lifted. */
    record Disarm(Alarm alarm, String label) implements Step {
        @Override
        public String text() {
            return "disarm " + alarm.kind() + " of " + label;
        }
    }

    /** As on etcd's command line. */
    static String joined(List<URI> urls) {
        return urls.stream().map(URI::toString).collect(joining(","));
    }
}
