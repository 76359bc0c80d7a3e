package io.understudy.mirror.takeover;

import java.util.List;

/**
 * What a hand-over came to.
 *
 * <p>Invariant M38: the reported plan, rollback and loss of a takeover are accurate.
 *
 * @param summary in one line
 * @param loss "none", or what can't be said, and why
 * @param facts in the order of the steps
 * @param next what to do now
 */
public record HandoverReport(String summary, String loss, List<Fact> facts, List<String> next) {

    public HandoverReport {
        facts = List.copyOf(facts);
        next = List.copyOf(next);
    }

    /** The same, with other words for what was lost, and something else to do now. */
    HandoverReport with(String newLoss, List<String> newNext) {
        return new HandoverReport(summary, newLoss, facts, newNext);
    }

    /** Something that was found or done. */
    public record Fact(String name, String value) {}
}
