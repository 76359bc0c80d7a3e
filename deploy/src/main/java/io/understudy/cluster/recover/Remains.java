package io.understudy.cluster.recover;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.observe.MemberAnswer;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What is left of a member.
 *
 * @param isLearner whether it is known for a learner: alone it would stay one, and a cluster without a voter do nothing
 * @param answer what it says of itself, if it answers
 * @param isRunning whether its process is there; empty if only its operator knows
 * @param hasData whether there is data of it on this machine; empty if that can't be seen from here
 * @param revision the last one in that data, as far as it can be read; what is only in its log is not counted
 */
public record Remains(
        MachineSettings machine,
        boolean isLearner,
        Optional<MemberAnswer> answer,
        Optional<Boolean> isRunning,
        Optional<Boolean> hasData,
        Optional<Long> revision) {

    /**
     * The most recent data last. Who answers knows what was committed, which is the same history for all of them, so that
     * the highest index has all that the others have; data directories are only looked at where nobody answers.
     */
    static final Comparator<Remains> BY_RECENCY = Comparator.comparing(
                    (Remains remains) -> remains.answer().isPresent())
            .thenComparing(
                    remains -> remains.answer().map(MemberAnswer::raftIndex).orElse(-1L))
            .thenComparing(
                    remains -> remains.answer().map(MemberAnswer::raftTerm).orElse(-1L))
            .thenComparing(remains -> remains.revision().orElse(-1L));

    /** Whether there is anything to go on from. */
    boolean isCandidate() {
        return !isLearner && (answer.isPresent() || hasData.orElse(false));
    }

    /** Whether it might come back just by starting it. */
    boolean isStartable() {
        return answer.isEmpty() && hasData.orElse(false) && !isRunning.orElse(true);
    }

    /** The one to go on from. */
    static Optional<Remains> mostRecent(List<Remains> all) {
        return all.stream().filter(Remains::isCandidate).max(BY_RECENCY);
    }

    /** One line, without the name. */
    String told() {
        if (answer.isPresent()) {
            MemberAnswer said = answer.get();
            return (isLearner ? "is a learner and " : "") + "answers: raft term " + said.raftTerm()
                    + ", committed index " + said.raftIndex() + ", revision " + said.revision();
        }
        if (hasData.isEmpty()) {
            return "does not answer; its data can't be seen from here";
        }
        if (!hasData.get()) {
            return "has no data in " + machine.dataDirectory();
        }
        return "does not answer"
                + (isRunning.orElse(false) ? ", though its process is there" : "; its process has ended")
                + "; data in " + machine.dataDirectory()
                + revision.map(last -> ", at least up to revision " + last).orElse(", which can't be read");
    }
}
