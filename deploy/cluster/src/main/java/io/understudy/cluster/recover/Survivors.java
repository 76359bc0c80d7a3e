package io.understudy.cluster.recover;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.recover.LogEntry.Voting;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The voting members that elect a leader from what is left. Without effects; a doubt is left to the operator.
 *
 * <p>Invariant DP10: without consent nothing is given up while a quorum may exist or another member may have more data.
 *
 * <p>Invariant DP14: a recovery starts fewer voting members without data than a quorum, and no more than the survivors
 * lack: so only the most complete survivor can be elected.
 *
 * @param all the survivors; each starts with its data
 * @param best the one with the most complete log, as far as logs are readable
 * @param empty lost voting members that start without data, so that there is a quorum
 * @param others lost voting members that may follow once the quorum has all data
 * @param ahead learners that have more than the survivors, and cannot follow them
 * @param members the IDs of all members, learners included
 * @param unsecured names by ID of those given up with data that cannot be set aside from here
 */
record Survivors(
        List<Remains> all,
        Remains best,
        List<Remains> empty,
        List<Remains> others,
        List<Remains> ahead,
        Set<Long> members,
        Map<Long, String> unsecured) {

    Survivors {
        all = List.copyOf(all);
        empty = List.copyOf(empty);
        others = List.copyOf(others);
        ahead = List.copyOf(ahead);
        members = Set.copyOf(members);
        unsecured = Map.copyOf(unsecured);
    }

    /**
     * The members by ID.
     *
     * @param changes later configurations, in the log's uncommitted part
     */
    private record Membership(Voting voting, Map<Long, Stored.Listed> listed, List<Voting> changes) {

        static Membership of(Remains best, Optional<ClusterFacts> facts) {
            Map<Long, Stored.Listed> listed = new HashMap<>();
            best.stored().ifPresent(data -> listed.putAll(data.database().members()));
            facts.ifPresent(seen -> seen.members()
                    .forEach(each -> listed.put(each.id().value(), new Stored.Listed(each.name(), each.peerUrls()))));
            if (best.stored().isEmpty()) {
                ClusterFacts seen = facts.orElseThrow();
                return new Membership(new Voting(ids(seen.voters()), ids(seen.learners())), listed, List.of());
            }
            List<Voting> changes = new ArrayList<>();
            Voting committed = best.stored().get().voting();
            Voting voting = committed;
            for (LogEntry change : best.stored().get().pendingChanges()) {
                voting = voting.after(change);
                changes.add(voting);
            }
            return new Membership(committed, listed, changes);
        }

        private static Set<Long> ids(List<MemberFacts> members) {
            return members.stream().map(each -> each.id().value()).collect(Collectors.toSet());
        }

        /** Returns the member ID; empty for one that is not a member. */
        Optional<Long> id(Remains each) {
            return each.stored()
                    .filter(data -> !data.isEmpty())
                    .map(data -> data.log().member())
                    .or(() -> listed.entrySet().stream()
                            .filter(entry -> isAt(entry.getValue(), each.machine()))
                            .map(Map.Entry::getKey)
                            .findFirst());
        }

        private static boolean isAt(Stored.Listed member, MachineSettings machine) {
            return member.name().isEmpty()
                    ? member.peerUrls().equals(machine.member().peerUrls())
                    : member.name().equals(machine.name());
        }

        boolean staysVoter(Remains each) {
            return changes.stream().allMatch(voting -> id(each).filter(voting.voters()::contains)
                    .isPresent());
        }

        String label(long id) {
            return Optional.ofNullable(listed.get(id))
                    .map(Stored.Listed::name)
                    .filter(name -> !name.isEmpty())
                    .orElse(Long.toHexString(id));
        }
    }

    /** Whether a voting member has anything left. */
    static boolean exist(List<Remains> remains) {
        return remains.stream().anyMatch(each -> each.isVoter() && each.hasLog());
    }

    /** Entries of different clusters cannot be compared. */
    private static void requireOneCluster(Set<String> from, List<Remains> remains) {
        Map<Long, List<String>> names = remains.stream()
                .filter(each -> from.isEmpty() || from.contains(each.name()))
                .filter(each -> each.stored().filter(data -> !data.isEmpty()).isPresent())
                .collect(Collectors.groupingBy(
                        each -> each.stored().orElseThrow().log().cluster(),
                        TreeMap::new,
                        Collectors.mapping(Remains::name, Collectors.toList())));
        if (names.size() > 1) {
            throw new RecoveryException(
                    "the data is of different clusters: "
                            + names.entrySet().stream()
                                    .map(each -> String.join(", ", each.getValue()) + " of "
                                            + Long.toHexString(each.getKey()))
                                    .collect(Collectors.joining("; "))
                            + ". Choose the members of one with --from",
                    null);
        }
    }

    /**
     * Chooses them.
     *
     * @param from their names; all others are given up. Empty for every voting member with data
     * @throws RecoveryException there are none, another member may have more, or too few machines are configured
     */
    static Survivors choose(Set<String> from, List<Remains> remains, Optional<ClusterFacts> facts) {
        for (String name : from) {
            requireUsable(name, remains);
        }
        Remains best = Remains.mostComplete(remains.stream()
                        .filter(each -> from.isEmpty() || from.contains(each.name()))
                        .filter(each -> each.isVoter() && each.hasLog())
                        .toList())
                .orElseThrow(() ->
                        new RecoveryException("no voting member responds, and no data of one is accessible", null));
        requireOneCluster(from, remains);
        Membership members = Membership.of(best, facts);
        if (members.voting().voters().isEmpty()) {
            throw new RecoveryException(
                    "the log of " + best.name() + " does not name the voting members; restore a snapshot: understudy"
                            + " cluster restore",
                    null);
        }
        List<Remains> survivors = remains.stream()
                .filter(each -> from.isEmpty() || from.contains(each.name()))
                .filter(each -> each.hasLog()
                        && members.id(each)
                                .filter(members.voting().voters()::contains)
                                .isPresent())
                .toList();
        List<Remains> learners = remains.stream()
                .filter(each -> members.id(each)
                        .filter(members.voting().learners()::contains)
                        .isPresent())
                .toList();
        if (from.isEmpty()) {
            requireNoDoubt(members, best, survivors, learners, remains);
        }
        int missing = members.voting().quorum() - survivors.size();
        if (missing <= 0) {
            throw new RecoveryException(
                    survivors.size() + " of " + members.voting().voters().size()
                            + " voting members have their data, enough for a quorum: see their logs",
                    null);
        }
        List<Remains> lost = remains.stream()
                .filter(each -> members.id(each)
                                .filter(members.voting().voters()::contains)
                                .isPresent()
                        && survivors.stream().noneMatch(other -> other.name().equals(each.name())))
                // Members without data that an earlier run started count first: there are never more of them.
                .sorted(Comparator.comparing((Remains each) -> !each.isEmpty())
                        .thenComparing(each -> !members.staysVoter(each))
                        .thenComparing(each -> !each.isGone()))
                .toList();
        if (lost.size() < missing) {
            throw new RecoveryException(
                    missing + " lost voting members have to start without data, and machines are configured for "
                            + lost.size() + ": configure them under their old names and peer URLs",
                    null);
        }
        List<Remains> empty = lost.subList(0, missing);
        List<Remains> others = lost.subList(missing, lost.size());
        List<Remains> ahead =
                learners.stream().filter(each -> isAhead(each, best)).toList();
        lost.forEach(each -> requireSameUrls(members, each));
        requireQuorum(members, survivors, empty);
        return new Survivors(
                survivors,
                best,
                empty,
                others,
                ahead,
                members.voting().all(),
                unsecured(members, remains, others, ahead, learners));
    }

    /** Returns the members given up with data elsewhere, with which they may start again. */
    private static Map<Long, String> unsecured(
            Membership members,
            List<Remains> remains,
            List<Remains> others,
            List<Remains> ahead,
            List<Remains> learners) {
        Set<Long> found = new HashSet<>(members.voting().all());
        found.removeAll(ids(members, remains));
        found.addAll(ids(
                members,
                Stream.concat(
                                Stream.concat(others.stream(), ahead.stream())
                                        .filter(each -> !each.hasData().orElse(false)),
                                learners.stream().filter(each -> !each.hasLog() && !each.isEmpty()))
                        .filter(each -> !each.isGone())
                        .toList()));
        return found.stream().collect(Collectors.toMap(Function.identity(), members::label));
    }

    private static void requireUsable(String name, List<Remains> remains) {
        Remains named = remains.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new RecoveryException("no machine is configured for member " + name, null));
        if (named.isGone()
                || named.isEmpty()
                || (!named.hasLog()
                        && (named.hasData().isPresent() || !named.trouble().isEmpty()))) {
            throw new RecoveryException("cannot recover from " + name + ": it " + named.state(), null);
        }
    }

    private static boolean isAhead(Remains learner, Remains best) {
        boolean isReadable = learner.stored().isPresent() && best.stored().isPresent();
        return isReadable ? learner.last().compareTo(best.last()) > 0 : learner.index() > best.index();
    }

    private static void requireNoDoubt(
            Membership members, Remains best, List<Remains> survivors, List<Remains> learners, List<Remains> remains) {
        Set<Long> configured =
                remains.stream().flatMap(each -> members.id(each).stream()).collect(Collectors.toSet());
        List<String> doubts = Stream.of(
                        members.voting().all().stream()
                                .filter(id -> !configured.contains(id))
                                .map(id -> "no machine is configured for member " + members.label(id)),
                        remains.stream()
                                .filter(each -> members.id(each)
                                                .filter(members.voting().voters()::contains)
                                                .isPresent()
                                        && !survivors.contains(each)
                                        && !each.isGone()
                                        && !each.isEmpty())
                                .map(each -> each.name() + " may have more: it " + each.state()),
                        learners.stream()
                                .filter(each -> isAhead(each, best) || (!each.hasLog() && !each.isGone()))
                                .map(each -> "learner " + each.name() + " "
                                        + (isAhead(each, best) ? "has more than " + best.name() : "may have more")
                                        + ": it " + each.state()))
                .flatMap(each -> each)
                .toList();
        if (!doubts.isEmpty()) {
            throw new RecoveryException(
                    "cannot determine the members with the most recent data: " + String.join("; ", doubts)
                            + ". Make their data accessible and run the command again, or choose members with --from NAME",
                    null);
        }
    }

    private static void requireSameUrls(Membership members, Remains lost) {
        Stored.Listed listed = members.id(lost).map(members.listed()::get).orElse(null);
        if (listed != null
                && !Set.copyOf(listed.peerUrls())
                        .equals(Set.copyOf(lost.machine().member().peerUrls()))) {
            throw new RecoveryException(
                    "machines." + lost.name() + ".peerUrls is "
                            + lost.machine().member().peerUrls() + "; the cluster has " + listed.peerUrls()
                            + ": configure these",
                    null);
        }
    }

    /** Requires a quorum in the committed configuration and in each uncommitted one. */
    private static void requireQuorum(Membership members, List<Remains> survivors, List<Remains> empty) {
        Set<Long> with = ids(members, survivors);
        Set<Long> without = ids(members, empty);
        List<Voting> all = new ArrayList<>(members.changes());
        all.add(0, members.voting());
        for (Voting voting : all) {
            int complete = shared(with, voting.voters());
            int blank = shared(without, voting.voters());
            if (complete == 0 || complete + blank < voting.quorum() || blank >= voting.quorum()) {
                throw new RecoveryException(
                        "the uncommitted part of the log changes the voting members to "
                                + voting.voters().stream()
                                        .map(members::label)
                                        .sorted()
                                        .collect(Collectors.joining(", "))
                                + ", which these members cannot elect a leader for: recover more data, or restore a"
                                + " snapshot",
                        null);
            }
        }
    }

    private static Set<Long> ids(Membership members, List<Remains> remains) {
        return remains.stream().flatMap(each -> members.id(each).stream()).collect(Collectors.toSet());
    }

    private static int shared(Set<Long> one, Set<Long> other) {
        Set<Long> shared = new HashSet<>(one);
        shared.retainAll(other);
        return shared.size();
    }
}
