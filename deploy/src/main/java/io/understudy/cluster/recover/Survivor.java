package io.understudy.cluster.recover;

import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.quorum.Quorum;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which member to go on from. Without effects: whatever leaves a doubt is left to the operator.
 *
 * <p>Invariant DP10: without consent nothing is given up while a quorum may exist or another member may have more data.
 */
final class Survivor {

    /** Who answers knows what was committed; of those that don't, only what their database holds is known. */
    private static final Comparator<Remains> BY_RECENCY = Comparator.comparing(
                    Remains::answer,
                    Comparator.comparing((Optional<MemberAnswer> answer) -> answer.isPresent())
                            .thenComparing(
                                    answer -> answer.orElse(null), Comparator.nullsFirst(MemberAnswer.BY_COMMITTED)))
            .thenComparing(remains -> remains.known().orElse(-1L));

    private Survivor() {}

    /**
     * The one that the operator named.
     *
     * @throws RecoveryException it is none to go on from
     */
    static Remains named(String name, List<Remains> all) {
        Remains named = all.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new RecoveryException("no machine is configured for member " + name, null));
        if (named.isLearner()) {
            throw new RecoveryException(name + " is a learner and cannot form a cluster alone", null);
        }
        if (!named.mayHaveAnything()) {
            throw new RecoveryException(name + " " + named.told(), null);
        }
        return named;
    }

    /**
     * The voter with the most recent data, if it surely is.
     *
     * @param elsewhere members for which no machine is configured
     * @throws RecoveryException nothing is left, or somebody else may have more
     */
    static Remains mostRecent(List<Remains> all, List<String> elsewhere) {
        if (all.stream().noneMatch(each -> each.hasAnything() && !each.isLearner())) {
            throw new RecoveryException(
                    "no member to recover from: no voting member responds, and no data of one is accessible. Restore a"
                            + " snapshot: understudy cluster restore",
                    null);
        }
        Remains best = all.stream()
                .filter(each -> each.isVoter() && each.hasAnything())
                .max(BY_RECENCY)
                .orElseThrow(() -> refused(all.stream()
                        .filter(each -> each.hasAnything() && !each.isLearner())
                        .map(each -> "unknown whether " + each.name() + " is a voting member")
                        .toList()));
        List<String> doubts = Stream.of(
                        mayBeQuorum(best, all).stream(),
                        all.stream()
                                .filter(each -> !each.name().equals(best.name()) && each.mayHaveAnything())
                                .flatMap(other -> doubt(best, other).stream()),
                        elsewhere.stream().map(name -> "no machine is configured for member " + name))
                .flatMap(each -> each)
                .toList();
        if (!doubts.isEmpty()) {
            throw refused(doubts);
        }
        return best;
    }

    /** Such as one that is slow to start, or that we are not let in to see. */
    private static Optional<String> mayBeQuorum(Remains best, List<Remains> all) {
        List<Remains> voters = all.stream().filter(Remains::isVoter).toList();
        long there = voters.stream().filter(Remains::isThere).count();
        int listed = Math.max(voters.size(), best.voters().size());
        return there < new Quorum(listed, listed).needed()
                ? Optional.empty()
                : Optional.of(there + " of " + listed + " voting members run, enough for a quorum: see their logs");
    }

    private static Optional<String> doubt(Remains best, Remains other) {
        if (best.known().isEmpty()) {
            return Optional.of("the revision of " + best.name() + " is unknown, and " + other.name()
                    + " may have more recent data: " + best.name() + " " + best.told());
        }
        if (other.known().isEmpty()) {
            return Optional.of("the revision of " + other.name() + " is unknown: it " + other.told());
        }
        return other.known().get() > best.known().get()
                ? Optional.of(other.name() + " has revision " + other.known().get() + ", " + best.name() + " only "
                        + best.known().get())
                : Optional.empty();
    }

    private static RecoveryException refused(List<String> doubts) {
        return new RecoveryException(
                "cannot determine the member with the most recent data: " + String.join("; ", doubts)
                        + ". Stop members that run without responding, so that their data can be read, and run the command"
                        + " again, or choose a member with --from NAME",
                null);
    }
}
