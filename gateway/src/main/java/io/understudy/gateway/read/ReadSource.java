package io.understudy.gateway.read;

import io.understudy.etcd.EtcdCluster;

/** Who stands behind the replica: what reads beyond it come to. */
public sealed interface ReadSource {

    /**
     * A cluster whose members confirm revisions, and have what the replica doesn't hold.
     *
     * @param readIndexes who confirms; on the cluster's thread, best of all
     */
    record Cluster(EtcdCluster cluster, ReadIndexSource readIndexes) implements ReadSource {}
}
