package io.understudy.gateway.read;

import io.understudy.etcd.EtcdCluster;
import java.time.Duration;
import java.time.InstantSource;

/** Who stands behind the replica: what reads beyond it come to. */
public sealed interface ReadSource {

    /**
     * A cluster whose members confirm revisions, and have what the replica doesn't hold.
     *
     * @param readIndexes who confirms; on the cluster's thread, best of all
     */
    record Cluster(EtcdCluster cluster, ReadIndexSource readIndexes) implements ReadSource {}

    /**
     * Nobody: how current the replica is its feed tells, and what it doesn't hold is refused.
     *
     * @param maxClockSkew how far the clocks of here and of whoever asked the source may be apart
     * @param clock of here
     */
    record Heartbeats(Duration maxClockSkew, InstantSource clock) implements ReadSource {}
}
