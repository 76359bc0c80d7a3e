package io.understudy.cluster.plan;

/**
 * The reason why a step is not taken.
 *
 * @param rule its name, for people to look up, such as {@code quorum-survives}
 * @param why what was observed, and what would follow
 * @param wayOut what to do instead
 */
public record Refusal(String rule, String why, String wayOut) {

    /** Returns the refusal in one line. */
    @Override
    public String toString() {
        return rule + ": " + why + ". " + wayOut;
    }
}
