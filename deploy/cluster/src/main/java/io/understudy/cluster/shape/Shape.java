package io.understudy.cluster.shape;

import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import io.understudy.tls.ListenerSecurity;
import java.time.Duration;
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

    /** Conditions and durations before a supervisor changes anything. */
    public record Limits(
            @Configured(
                    key = "deadTime",
                    value =
                            "Time after which a member is replaced that serves no linearizable read and sends nothing to the"
                                    + " leader.",
                    byDefault = "30s",
                    range = "1s..1d")
            Duration dead,

            @Configured(
                    value = "Maximum lag of a learner for promotion, in Raft entries behind the leader.",
                    byDefault = "500",
                    range = "0..100000")
            long maxLag,

            @Configured(
                    key = "stableTime",
                    value = "Time that a learner must be healthy and within maxLag before promotion.",
                    byDefault = "10s",
                    range = "1s..1d")
            Duration stable,

            @Configured(
                    value = "Time after which a learner that has not started is removed.",
                    byDefault = "10m",
                    range = "1s..1d")
            Duration joinDeadline,

            @Configured(
                    value =
                            "Backoff before a machine is used again after its member failed or did not join; doubles each time,"
                                    + " up to 64 times.",
                    byDefault = "1m",
                    range = "1s..1d")
            Duration holdOff,

            @Configured(
                    value =
                            "Maximum additions and removals of voting members per hour, from all sources; a replacement counts"
                                    + " two.",
                    byDefault = "12",
                    range = "2..1000")
            int changesPerHour) {}

    /**
     * Settings of a supervisor process.
     *
     * @param security of the page
     */
    public record SupervisorSettings(
            @Configured(
                    value =
                            "Listen address for state and metrics. Pause and resume are accepted from this machine only.",
                    byDefault = "127.0.0.1:8082")
            HostPort listen,

            ListenerSecurity security,

            @Configured(value = "Interval between observations of the cluster.", byDefault = "1s", range = "100ms..1m")
            Duration interval,

            @Configured(
                    value = "Timeout of an observation for members that do not respond.",
                    byDefault = "1s",
                    range = "100ms..1m")
            Duration patience,

            @Configured(
                    value = "TTL of the election lease: another supervisor becomes active after it expires.",
                    byDefault = "3s",
                    range = "2s..10m")
            Duration lease) {

        public SupervisorSettings {
            security.require("supervisor.listen", listen);
        }

        /** Returns the maximum time between the starts of two observations. */
        public Duration pace() {
            return interval.plus(patience);
        }

        /** Returns the maximum age of an observation for a step, before another supervisor acts. */
        public Duration freshness() {
            return patience.plus(lease.dividedBy(2));
        }
    }
}
