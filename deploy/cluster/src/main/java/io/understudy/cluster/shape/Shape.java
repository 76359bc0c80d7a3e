package io.understudy.cluster.shape;

import io.understudy.config.Configured;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The members that are wanted.
 *
 * @param voters with too few machines for it, the largest odd number there are machines for
 * @param readReplicasAreStandbys then each of them counts as a standby
 * @param maxLearners before etcd 3.6 the limit is 1 and the variable {@code ETCD_MAX_LEARNERS} is ignored
 */
public record Shape(
        @Configured(
                value = "Number of voting members; odd, since an even number tolerates no more failures.",
                byDefault = "3",
                range = "1..7",
                check = OddNumber.class)
        int voters,

        @Configured(
                value =
                        "Number of in-sync learners that replace a failed voting member. They join in advance: etcd adds no"
                                + " member to a cluster of three with one down.",
                byDefault = "1",
                range = "0..10")
        int standbys,

        @Configured(value = "Names of machines with learners that serve reads.", optional = true, example = "reader-1")
        Set<String> readReplicas,

        @Configured(
                value =
                        "Allows a read replica to replace a failed voting member. Before etcd 3.6, which allows one learner,"
                                + " required to have both.",
                byDefault = "false")
        boolean readReplicasAreStandbys,

        @Configured(
                value = "Value of --max-learners for all members; 1 before etcd 3.6.",
                byDefault = "1",
                range = "1..10")
        int maxLearners) {

    public Shape {
        readReplicas = Set.copyOf(readReplicas);
        new OddNumber().accept(voters);
    }

    /** Returns the same shape with another limit of learners. */
    public Shape withMaxLearners(int limit) {
        return new Shape(voters, standbys, readReplicas, readReplicasAreStandbys, limit);
    }

    /** Whether the learner on that machine may become a voter. */
    public boolean mayPromote(String machine) {
        return readReplicasAreStandbys || !readReplicas.contains(machine);
    }

    /** Learners wanted besides the voters. */
    public int learners() {
        return readReplicasAreStandbys ? Math.max(standbys, readReplicas.size()) : standbys + readReplicas.size();
    }

    /** The condition on the number of voting members. */
    static final class OddNumber implements Consumer<Integer> {
        @Override
        public void accept(Integer voters) {
            if (voters < 1 || voters % 2 == 0) {
                throw new IllegalArgumentException("the number of voting members must be odd, such as " + (voters + 1)
                        + "; an even number tolerates no more failures");
            }
        }
    }
}
