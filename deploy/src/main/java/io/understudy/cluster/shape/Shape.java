package io.understudy.cluster.shape;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.util.List;
import java.util.Set;

/**
 * The members that are wanted.
 *
 * @param voters an odd number; with too few machines for it the largest odd number there are machines for
 * @param standbys learners that take a dead voter's place
 * @param readReplicas names of the machines whose learners are there to be read from
 * @param readReplicasAreStandbys whether those may take a dead voter's place, too; then each of them counts as a standby
 * @param maxLearners how many learners the members allow; every member is started with it ({@code ETCD_MAX_LEARNERS}).
 *     Before etcd 3.6 the limit is 1 and the variable is ignored
 */
public record Shape(
        int voters, int standbys, Set<String> readReplicas, boolean readReplicasAreStandbys, int maxLearners) {

    private static final int MOST_VOTERS = 7;
    private static final int MOST_LEARNERS = 10;

    private static final Setting<Integer> VOTERS = Setting.integer(
                    "voters", "Number of voting members; odd, since an even number tolerates no more failures.")
            .defaultsTo(3)
            .between(1, MOST_VOTERS)
            .checkedBy(Shape::requireOdd);
    private static final Setting<Integer> STANDBYS = Setting.integer(
                    "standbys",
                    "Number of in-sync learners that replace a failed voting member. They join in advance: etcd adds no"
                            + " member to a cluster of three with one down.")
            .defaultsTo(1)
            .between(0, MOST_LEARNERS);
    private static final Setting<List<String>> READ_REPLICAS = Setting.texts(
                    "readReplicas", "Names of machines with learners that serve reads.")
            .defaultsTo(List.of());
    private static final Setting<Boolean> READ_REPLICAS_ARE_STANDBYS = Setting.flag(
                    "readReplicasAreStandbys",
                    "Allows a read replica to replace a failed voting member. Before etcd 3.6, which allows one learner,"
                            + " required to have both.")
            .defaultsTo(false);
    private static final Setting<Integer> MAX_LEARNERS = Setting.integer(
                    "maxLearners", "Value of --max-learners for all members; 1 before etcd 3.6.")
            .defaultsTo(1)
            .between(1, MOST_LEARNERS);

    /** Relative to the group {@code shape}. */
    public static final List<Setting<?>> ROWS =
            List.of(VOTERS, STANDBYS, READ_REPLICAS, READ_REPLICAS_ARE_STANDBYS, MAX_LEARNERS);

    public Shape {
        readReplicas = Set.copyOf(readReplicas);
        requireOdd(voters);
    }

    /**
     * What {@link #ROWS} say.
     *
     * @param group the part of the configuration the rows were put under
     */
    public static Shape from(Configuration group) {
        return new Shape(
                group.get(VOTERS),
                group.get(STANDBYS),
                Set.copyOf(group.get(READ_REPLICAS)),
                group.get(READ_REPLICAS_ARE_STANDBYS),
                group.get(MAX_LEARNERS));
    }

    /** Whether the learner on that machine may become a voter. */
    public boolean mayPromote(String machine) {
        return readReplicasAreStandbys || !readReplicas.contains(machine);
    }

    /** Learners wanted besides the voters. */
    public int learners() {
        return readReplicasAreStandbys ? Math.max(standbys, readReplicas.size()) : standbys + readReplicas.size();
    }

    private static void requireOdd(int voters) {
        if (voters < 1 || voters % 2 == 0) {
            throw new IllegalArgumentException("the number of voting members must be odd, such as " + (voters + 1)
                    + "; an even number tolerates no more failures");
        }
    }
}
