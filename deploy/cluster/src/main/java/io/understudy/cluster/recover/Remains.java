package io.understudy.cluster.recover;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.recover.LogEntry.LogPosition;
import io.understudy.etcd.Role;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The remains of a member.
 *
 * @param role as responding members list it, or else its own log
 * @param answer its status, if it responds
 * @param isRunning whether its process runs; empty if only the operator can see that
 * @param hasData whether this machine has data of it; empty if that cannot be seen from here
 * @param stored that data, if it can be read
 * @param trouble why it cannot be read
 */
record Remains(
        MachineSettings machine,
        Optional<Role> role,
        Optional<MemberAnswer> answer,
        Optional<Boolean> isRunning,
        Optional<Boolean> hasData,
        Optional<Stored> stored,
        String trouble) {

    private static final int LISTED_ENTRIES = 20;

    String name() {
        return machine.name();
    }

    boolean isLearner() {
        return role.filter(Role.LEARNER::equals).isPresent();
    }

    boolean isVoter() {
        return role.filter(Role.VOTER::equals).isPresent();
    }

    /** Whether its data can elect a leader: a log with entries, or a response. */
    boolean hasLog() {
        return answer.isPresent() || stored.filter(data -> !data.isEmpty()).isPresent();
    }

    /** Whether an earlier run started it without data, and it received none yet. */
    boolean isEmpty() {
        return answer.isEmpty() && stored.filter(Stored::isEmpty).isPresent();
    }

    /** Whether it is lost beyond doubt. */
    boolean isGone() {
        return answer.isEmpty() && !hasData.orElse(true);
    }

    boolean isThere() {
        return answer.isPresent() || isRunning.orElse(false);
    }

    /** Whether it is a member with data that does not run. */
    boolean isStopped() {
        return hasData.orElse(false) && !isRunning.orElse(true) && role.isPresent() && hasLog();
    }

    /** Whether its data are of another cluster, or of another member than the listed one. */
    boolean isForeignTo(ClusterFacts facts) {
        return stored.filter(data -> !data.isEmpty())
                .map(Stored::log)
                .filter(log -> log.cluster() != facts.cluster().value()
                        || facts.of(machine.member())
                                .filter(member -> member.id().value() != log.member())
                                .isPresent())
                .isPresent();
    }

    /** Whether it responds or has data, unlike before, or its log has grown. */
    boolean hasReturnedSince(Remains before) {
        boolean hasGrown = stored.isPresent() && before.stored().isPresent() && !last().equals(before.last());
        return hasGrown
                || (answer.isPresent() && before.answer().isEmpty())
                || (hasData.orElse(false) && !before.hasData().orElse(false));
    }

    /** Whether its restart may restore the quorum. */
    boolean isStartable() {
        return isStopped() && isVoter();
    }

    /** The index up to which its log certainly extends. */
    long index() {
        return Stream.of(stored.map(data -> data.log().last().index()), answer.map(MemberAnswer::raftIndex))
                .flatMap(Optional::stream)
                .max(Long::compare)
                .orElse(0L);
    }

    LogPosition last() {
        return stored.map(data -> data.log().last()).orElse(LogPosition.NONE);
    }

    /** Returns the member with the most complete log. Indexes alone order a log that is not readable here. */
    static Optional<Remains> mostComplete(List<Remains> all) {
        Comparator<Remains> byIndex = Comparator.comparingLong(Remains::index);
        return Stream.of(
                        all.stream()
                                .filter(each -> each.stored().isPresent())
                                .max(Comparator.comparing(Remains::last).thenComparing(byIndex)),
                        all.stream().filter(each -> each.stored().isEmpty()).max(byIndex))
                .flatMap(Optional::stream)
                .max(byIndex);
    }

    /** Returns its state in one line, without the name. */
    String state() {
        String data = stored.filter(each -> !each.isEmpty())
                .map(each -> "; log ends at " + each.log().last() + ", committed up to " + each.committed()
                        + ", database at revision " + each.database().revision())
                .orElse("");
        if (answer.isPresent()) {
            return (isLearner() ? "is a learner and responds: " : "responds: ") + "raft term "
                    + answer.get().raftTerm() + ", committed index "
                    + answer.get().raftIndex() + ", revision " + answer.get().revision() + data;
        }
        if (hasData.isEmpty()) {
            return "does not respond; its data is not accessible from this machine"
                    + (trouble.isEmpty() ? "" : ": " + trouble);
        }
        if (!hasData.get()) {
            return "has no data in " + machine.dataDirectory();
        }
        return (isLearner() ? "is a learner and does not respond" : "does not respond")
                + (isRunning.orElse(false) ? ", but its process is running" : "; its process has exited")
                + "; data in " + machine.dataDirectory()
                + (stored.isEmpty() ? ", not readable: " + trouble : isEmpty() ? ", empty" : data);
    }

    /** Entries after the commit index, for the operator; none of them is certainly acknowledged. */
    List<String> tail() {
        List<String> lines = stored.map(data -> data.log().tail().stream()
                        .filter(entry -> entry.at().index() > data.committed()
                                && !entry.description().isEmpty())
                        .map(entry -> "    index " + entry.at().index() + ": " + entry.description())
                        .toList())
                .orElse(List.of());
        return lines.size() <= LISTED_ENTRIES
                ? lines
                : Stream.concat(
                                lines.subList(0, LISTED_ENTRIES).stream(),
                                Stream.of("    and " + (lines.size() - LISTED_ENTRIES) + " more"))
                        .toList();
    }
}
