package io.understudy.gateway.read;

import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.ReadIndex;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/** The source of reads that the replica cannot answer. */
public sealed interface ReadSource {

    /** The version of etcd that is emulated; {@link EtcdVersion#UNKNOWN} until a member reported it. */
    EtcdVersion version();

    /**
     * A cluster; its members confirm revisions and serve other keys.
     *
     * @param cluster for new reads
     * @param readIndexes source of confirmed revisions, preferably completed on {@code timers}
     * @param timers for read-index rounds
     */
    record Cluster(Supplier<ReadableCluster> cluster, ReadIndexSource readIndexes, ScheduledExecutorService timers)
            implements ReadSource {

        public Cluster(EtcdCluster cluster, ReadIndexSource readIndexes) {
            this(() -> new ReadableCluster(cluster, 0, revision -> true), readIndexes, cluster.thread());
        }

        @Override
        public EtcdVersion version() {
            return cluster.get().cluster().view().version();
        }
    }

    /**
     * A cluster with the revisions that clients can read.
     *
     * @param oldest first revision of this cluster: earlier ones count as compacted
     * @param answered receives the revision of each answer; false if the client must not get it
     */
    record ReadableCluster(EtcdCluster cluster, long oldest, LongPredicate answered) {}

    /**
     * No source: the feed confirms revisions, and reads that need a source are rejected.
     *
     * @param maxClockSkew allowed skew between this host and the mirror
     * @param clock of this host
     */
    record Heartbeats(Duration maxClockSkew, InstantSource clock) implements ReadSource {

        /** A topic does not have the version of the mirrored cluster. */
        @Override
        public EtcdVersion version() {
            return EtcdVersion.NEWEST;
        }
    }

    /** Confirms revisions by a quorum. */
    @FunctionalInterface
    interface ReadIndexSource {

        /** Returns a revision confirmed by a quorum after this call; fails by the deadline. Completes on any thread. */
        CompletableFuture<ReadIndex> readIndex(Duration deadline);
    }
}
