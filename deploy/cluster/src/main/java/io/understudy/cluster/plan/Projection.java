package io.understudy.cluster.plan;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterFacts.Divergence;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.observe.MemberFacts.MemberProcess;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Projects a cluster after a successful step, for the rest of a plan. */
public final class Projection {

    /** Applied index of a member without a known state. */
    private static final long NOTHING = Long.MIN_VALUE / 2;

    private Projection() {}

    public static ClusterFacts after(ClusterFacts facts, Step step) {
        if (step instanceof Step.AddLearner add) {
            return with(facts, expected(toBeGiven(facts), add.member()));
        }
        if (step instanceof Step.Join join) {
            return change(facts, join.id(), member -> serving(facts, join.member(), member));
        }
        if (step instanceof Step.Start start) {
            return facts.named(start.member().name())
                    .map(found -> change(facts, found.id(), member -> serving(facts, start.member(), member)))
                    .orElse(facts);
        }
        if (step instanceof Step.CatchUp catchUp) {
            return change(facts, catchUp.id(), member -> member.withAnswer(answer(facts, leaderIndex(facts))));
        }
        if (step instanceof Step.Promote promote) {
            return change(facts, promote.id(), member -> as(member, Role.VOTER));
        }
        if (step instanceof Step.MoveLeader move) {
            return led(facts, move.id());
        }
        if (step instanceof Step.Remove remove) {
            return without(facts, remove.id());
        }
        return atPlace(facts, step);
    }

    private static ClusterFacts atPlace(ClusterFacts facts, Step step) {
        if (step instanceof Step.Restart restart) {
            return change(facts, restart.id(), member -> restarted(facts, restart, member));
        }
        if (step instanceof Step.Migrate migrate) {
            return change(facts, migrate.id(), member -> serving(facts, migrate.to(), member));
        }
        if (step instanceof Step.UpdatePeerUrls update) {
            return change(facts, update.id(), member -> listedAt(member, update.peerUrls()));
        }
        if (step instanceof Step.Downgrade downgrade) {
            return replaced(
                    facts,
                    facts.members().stream()
                            .map(member -> member.answer()
                                    .map(answer -> member.withAnswer(answer.withStorage(lowered(downgrade, answer))))
                                    .orElse(member))
                            .toList());
        }
        return facts;
    }

    private static StorageStatus lowered(Step.Downgrade downgrade, MemberAnswer answer) {
        return new StorageStatus(
                downgrade.version().isEmpty() ? answer.storage().version() : downgrade.version(), downgrade.version());
    }

    /** Returns a placeholder for the id that etcd will assign, which is a large one. */
    private static MemberId toBeGiven(ClusterFacts facts) {
        return LongStream.iterate(0, id -> id + 1)
                .mapToObj(MemberId::new)
                .filter(id -> facts.member(id).isEmpty())
                .findFirst()
                .orElseThrow();
    }

    private static MemberFacts expected(MemberId id, MemberSpec spec) {
        return new MemberFacts(id, "", Role.LEARNER, spec.peerUrls(), List.of(), Optional.empty(), Measurements.NONE);
    }

    private static MemberFacts serving(ClusterFacts facts, MemberSpec spec, MemberFacts member) {
        List<URI> clientUrls = spec.clientUrls().isEmpty() ? member.clientUrls() : spec.clientUrls();
        return new MemberFacts(
                member.id(),
                spec.name(),
                member.role(),
                member.peerUrls(),
                clientUrls,
                Optional.of(answer(facts, member.hasStarted() ? leaderIndex(facts) : NOTHING)),
                Measurements.NONE,
                new MemberProcess(
                        Optional.of(Instant.MAX),
                        member.process().clockAhead(),
                        Optional.of(true),
                        member.process().quotaBytes()));
    }

    private static MemberFacts restarted(ClusterFacts facts, Step.Restart step, MemberFacts member) {
        MemberFacts serving = serving(facts, step.member(), member);
        EtcdVersion version = step.version() != null
                ? step.version()
                : member.answer().orElse(serving.answer().orElseThrow()).version();
        return serving.withAnswer(serving.answer().orElseThrow().withVersion(version));
    }

    private static MemberFacts as(MemberFacts member, Role role) {
        return new MemberFacts(
                member.id(),
                member.name(),
                role,
                member.peerUrls(),
                member.clientUrls(),
                member.answer(),
                member.measurements(),
                member.process());
    }

    private static MemberFacts listedAt(MemberFacts member, List<URI> peerUrls) {
        return new MemberFacts(
                member.id(),
                member.name(),
                member.role(),
                peerUrls,
                member.clientUrls(),
                member.answer(),
                member.measurements(),
                new MemberProcess(
                        member.process().startedAt(),
                        member.process().clockAhead(),
                        Optional.of(false),
                        member.process().quotaBytes()));
    }

    /** Returns the expected response of a member like the leader, with another applied index. */
    private static MemberAnswer answer(ClusterFacts facts, long applied) {
        MemberAnswer like = facts.leader()
                .or(() -> facts.healthyVoters().stream().findFirst())
                .flatMap(MemberFacts::answer)
                .orElseThrow(() -> new IllegalArgumentException("no projection for a cluster without a quorum"));
        return new MemberAnswer(
                like.version(),
                like.leader(),
                like.raftTerm(),
                like.raftIndex(),
                applied,
                like.revision(),
                like.databaseBytes(),
                like.databaseBytesInUse(),
                true,
                List.of(),
                like.storage());
    }

    private static long leaderIndex(ClusterFacts facts) {
        return facts.leader()
                .flatMap(MemberFacts::answer)
                .map(MemberAnswer::raftIndex)
                .orElse(0L);
    }

    private static ClusterFacts led(ClusterFacts facts, MemberId leader) {
        return replaced(
                facts,
                facts.members().stream()
                        .map(member -> member.answer()
                                .map(answer -> member.withAnswer(answer.withLeader(leader, answer.raftTerm() + 1)))
                                .orElse(member))
                        .toList());
    }

    /** Removes a member; if it led, another one leads at once. */
    private static ClusterFacts without(ClusterFacts facts, MemberId gone) {
        ClusterFacts rest = replaced(
                facts,
                facts.members().stream()
                        .filter(member -> !member.id().equals(gone))
                        .toList());
        boolean led = facts.leader().map(MemberFacts::id).filter(gone::equals).isPresent();
        Optional<MemberFacts> next = rest.healthyVoters().stream().findFirst();
        return led && next.isPresent() ? led(rest, next.get().id()) : rest;
    }

    private static ClusterFacts with(ClusterFacts facts, MemberFacts more) {
        return replaced(
                facts, Stream.concat(facts.members().stream(), Stream.of(more)).toList());
    }

    private static ClusterFacts change(ClusterFacts facts, MemberId id, UnaryOperator<MemberFacts> change) {
        return replaced(
                facts,
                facts.members().stream()
                        .map(member -> member.id().equals(id) ? change.apply(member) : member)
                        .sorted(Comparator.comparing((MemberFacts member) -> !member.hasStarted())
                                .thenComparing(MemberFacts::name))
                        .toList());
    }

    private static ClusterFacts replaced(ClusterFacts facts, List<MemberFacts> members) {
        Divergence before = facts.divergence();
        Set<MemberId> apart = members.stream()
                .map(MemberFacts::id)
                .filter(before.members()::contains)
                .collect(Collectors.toSet());
        return new ClusterFacts(
                facts.cluster(),
                members,
                facts.isConfirmed(),
                facts.alarms(),
                facts.at(),
                apart.isEmpty() ? Divergence.NONE : new Divergence(apart, before.hasMajority(), before.texts()),
                facts.failures());
    }
}
