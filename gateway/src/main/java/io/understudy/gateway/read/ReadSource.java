package io.understudy.gateway.read;

import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdVersion;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** Who stands behind the replica: what reads beyond it come to. */
public sealed interface ReadSource {

    /** The version of etcd as which reads are answered; {@link EtcdVersion#UNKNOWN} until a member reported it. */
    EtcdVersion version();

    /**
     * A cluster whose members confirm revisions, and have what the replica doesn't hold.
     *
     * @param cluster that new reads are sent to
     * @param readIndexes source of confirmed revisions, preferably completed on {@code timers}
     * @param timers for read-index rounds
     */
    record Cluster(Supplier<ReadableCluster> cluster, ReadIndexSource readIndexes, ScheduledExecutorService timers)
            implements ReadSource {

        public Cluster(EtcdCluster cluster, ReadIndexSource readIndexes) {
            this(() -> new ReadableCluster(cluster, 0), readIndexes, cluster.thread());
        }

        @Override
        public EtcdVersion version() {
            return cluster.get().cluster().view().version();
        }
    }

    /**
     * A cluster, as far as revisions of clients name states of it.
     *
     * @param oldest first revision that does: earlier ones are of another cluster, and count as compacted
     */
    record ReadableCluster(EtcdCluster cluster, long oldest) {}

    /**
     * Nobody: how current the replica is its feed tells, and what it doesn't hold is refused.
     *
     * @param maxClockSkew how far the clocks of here and of whoever asked the source may be apart
     * @param clock of here
     */
    record Heartbeats(Duration maxClockSkew, InstantSource clock) implements ReadSource {

        /** A topic does not have the version of the mirrored cluster. */
        @Override
        public EtcdVersion version() {
            return EtcdVersion.NEWEST;
        }
    }
}
