package io.understudy.cluster.quorum;

/**
 * A number of voters, some of them healthy.
 *
 * <p>Invariant DP29: votes are counted as Raft counts them.
 *
 * @param voters members that vote, alive or not
 * @param healthy those of them that answer and reach a quorum now
 */
public record Quorum(int voters, int healthy) {

    public Quorum {
        if (healthy < 0 || healthy > voters) {
            throw new IllegalArgumentException(healthy + " healthy of " + voters + " voting members");
        }
    }

    /** Votes that a majority takes (Raft, section 5.2). */
    public int needed() {
        return voters / 2 + 1;
    }

    /** Whether enough are healthy for anything to be decided. */
    public boolean isHeld() {
        return healthy >= needed();
    }

    /** Returns how many healthy voters may fail; negative if the quorum is lost. */
    public int tolerance() {
        return healthy - needed();
    }

    /** Returns the quorum with one more voter. */
    public Quorum plusVoter(boolean isHealthy) {
        return new Quorum(voters + 1, healthy + (isHealthy ? 1 : 0));
    }

    /** Returns the quorum without one voter. */
    public Quorum minusVoter(boolean isHealthy) {
        return new Quorum(voters - 1, healthy - (isHealthy ? 1 : 0));
    }

    /** Returns text such as {@code 3 voters, 3 healthy, 2 needed: survives 1 failure}. */
    @Override
    public String toString() {
        return voters + (voters == 1 ? " voter, " : " voters, ") + healthy + " healthy, " + needed() + " needed: "
                + text();
    }

    private String text() {
        if (!isHeld()) {
            return "no quorum, " + -tolerance() + " short";
        }
        return tolerance() == 0
                ? "survives no failure"
                : "survives " + tolerance() + (tolerance() == 1 ? " failure" : " failures");
    }
}
