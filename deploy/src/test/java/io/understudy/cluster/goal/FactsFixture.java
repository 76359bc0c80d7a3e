package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.observe.MemberFacts.MemberProcess;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Clusters as they may be found: members 1, 2, 3 …, the first healthy voter leads. */
final class FactsFixture {

    static final Instant STARTED = Instant.parse("2026-01-01T00:00:00Z");
    static final long LEADER_INDEX = 100_000;

    /** A voter per entry, healthy or not. */
    static ClusterFacts voters(boolean... healthy) {
        int up = 0;
        for (boolean each : healthy) {
            up += each ? 1 : 0;
        }
        boolean held = up > healthy.length / 2;
        Optional<MemberId> leader = Optional.empty();
        for (int i = 0; i < healthy.length && held && leader.isEmpty(); i++) {
            leader = healthy[i] ? Optional.of(new MemberId(i + 1)) : leader;
        }
        List<MemberFacts> members = new ArrayList<>();
        for (int i = 0; i < healthy.length; i++) {
            members.add(member(
                    i + 1,
                    Role.VOTER,
                    healthy[i] ? Optional.of(answer(leader, LEADER_INDEX, held)) : Optional.empty()));
        }
        return new ClusterFacts(new ClusterId(7), members, held, List.of(), STARTED.plusSeconds(60));
    }

    static ClusterFacts withLearner(ClusterFacts facts, boolean healthy, long lag) {
        Optional<MemberId> leader = facts.leader().map(MemberFacts::id);
        return with(
                facts,
                member(
                        facts.members().size() + 1,
                        Role.LEARNER,
                        healthy
                                ? Optional.of(answer(leader, LEADER_INDEX - lag, facts.isConfirmed()))
                                : Optional.empty()));
    }

    static ClusterFacts withNeverStarted(ClusterFacts facts, Role role, URI peerUrl) {
        return with(
                facts,
                new MemberFacts(
                        new MemberId(99), "", role, List.of(peerUrl), List.of(), Optional.empty(), Measurements.NONE));
    }

    static ClusterFacts with(ClusterFacts facts, MemberFacts more) {
        List<MemberFacts> members = new ArrayList<>(facts.members());
        members.add(more);
        return new ClusterFacts(facts.cluster(), members, facts.isConfirmed(), facts.alarms(), facts.at());
    }

    static MemberSpec place(int number) {
        return new MemberSpec("m" + number, List.of(peer(number)), List.of(client(number)));
    }

    static URI peer(int number) {
        return URI.create("http://10.0.0." + number + ":2380");
    }

    static URI client(int number) {
        return URI.create("http://10.0.0." + number + ":2379");
    }

    static MemberFacts member(int number, Role role, Optional<MemberAnswer> answer) {
        return new MemberFacts(
                new MemberId(number),
                "m" + number,
                role,
                List.of(peer(number)),
                List.of(client(number)),
                answer,
                Measurements.NONE,
                new MemberProcess(answer.map(given -> STARTED), Optional.empty(), answer.map(given -> true)));
    }

    /** The same, with another version and clock of the member with that number. */
    static ClusterFacts withVersion(ClusterFacts facts, int number, String version, Duration clockAhead) {
        return changed(facts, number, member -> withVersion(member, version, clockAhead));
    }

    private static MemberFacts withVersion(MemberFacts member, String version, Duration clockAhead) {
        return new MemberFacts(
                member.id(),
                member.name(),
                member.role(),
                member.peerUrls(),
                member.clientUrls(),
                member.answer().map(answer -> answer.withVersion(EtcdVersion.parse(version))),
                member.measurements(),
                new MemberProcess(
                        member.process().startedAt(),
                        Optional.of(clockAhead),
                        member.process().servesPeers()));
    }

    /** The same, with another start time of the member with that number; empty as without a page of metrics. */
    static ClusterFacts withStart(ClusterFacts facts, int number, Optional<Instant> startedAt) {
        return changed(
                facts,
                number,
                member -> new MemberFacts(
                        member.id(),
                        member.name(),
                        member.role(),
                        member.peerUrls(),
                        member.clientUrls(),
                        member.answer(),
                        member.measurements(),
                        new MemberProcess(
                                startedAt, Optional.empty(), member.process().servesPeers())));
    }

    /** The same, with that storage version of all members. */
    static ClusterFacts withStorage(ClusterFacts facts, String version) {
        return withStorage(facts, new StorageStatus(version, ""));
    }

    static ClusterFacts withStorage(ClusterFacts facts, StorageStatus storage) {
        ClusterFacts now = facts;
        for (MemberFacts member : facts.members()) {
            now = changed(
                    now,
                    (int) member.id().value(),
                    each -> member(
                            (int) each.id().value(),
                            each.role(),
                            each.answer()
                                    .map(answer -> new MemberAnswer(
                                            answer.version(),
                                            answer.leader(),
                                            answer.raftTerm(),
                                            answer.raftIndex(),
                                            answer.appliedIndex(),
                                            answer.revision(),
                                            answer.databaseBytes(),
                                            answer.databaseBytesInUse(),
                                            answer.reachesQuorum(),
                                            answer.errors(),
                                            storage))));
        }
        return now;
    }

    /** The same, without a response of the member with that number. */
    static ClusterFacts withSilent(ClusterFacts facts, int number) {
        return changed(facts, number, member -> member(number, member.role(), Optional.empty()));
    }

    private static ClusterFacts changed(ClusterFacts facts, int number, UnaryOperator<MemberFacts> change) {
        List<MemberFacts> members = facts.members().stream()
                .map(member -> member.id().equals(new MemberId(number)) ? change.apply(member) : member)
                .toList();
        return new ClusterFacts(facts.cluster(), members, facts.isConfirmed(), facts.alarms(), facts.at());
    }

    static MemberAnswer answer(Optional<MemberId> leader, long applied, boolean reachesQuorum) {
        return new MemberAnswer(
                EtcdVersion.parse("3.5.30"),
                leader,
                2,
                LEADER_INDEX,
                applied,
                new Revision(1000),
                1 << 20,
                1 << 19,
                reachesQuorum,
                List.of(),
                StorageStatus.NONE);
    }

    private FactsFixture() {}
}
