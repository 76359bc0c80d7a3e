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
 * @param maxLearners how many learners the members allow ({@code --max-learners}); before etcd 3.6 it is 1 whatever this
 *     says
 */
public record Shape(
        int voters, int standbys, Set<String> readReplicas, boolean readReplicasAreStandbys, int maxLearners) {

    private static final int MOST_VOTERS = 7;
    private static final int MOST_LEARNERS = 10;

    private static final Setting<Integer> VOTERS = Setting.integer(
                    "voters",
                    "Members that vote. Odd, as one more would need one more vote and survive no more failures.")
            .defaultsTo(3)
            .between(1, MOST_VOTERS)
            .checkedBy(Shape::requireOdd);
    private static final Setting<Integer> STANDBYS = Setting.integer(
                    "standbys",
                    "Learners kept in sync that take the place of a dead voter. They must have joined before it dies:"
                            + " etcd lets nobody join a cluster of three with one down.")
            .defaultsTo(1)
            .between(0, MOST_LEARNERS);
    private static final Setting<List<String>> READ_REPLICAS = Setting.texts(
                    "readReplicas", "Names of the machines whose learners are there to be read from.")
            .defaultsTo(List.of());
    private static final Setting<Boolean> READ_REPLICAS_ARE_STANDBYS = Setting.flag(
                    "readReplicasAreStandbys",
                    "Whether a read replica takes the place of a dead voter, too. Before etcd 3.6 there is one learner, so"
                            + " this is how to have both.")
            .defaultsTo(false);
    private static final Setting<Integer> MAX_LEARNERS = Setting.integer(
                    "maxLearners", "What the members are started with as --max-learners; before etcd 3.6 it is 1.")
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
            throw new IllegalArgumentException(voters + " voters: an odd number is needed, such as " + (voters + 1)
                    + "; one voter more needs one vote more and survives no more failures");
        }
    }
}
