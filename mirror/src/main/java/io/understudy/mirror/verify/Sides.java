package io.understudy.mirror.verify;

import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.mirror.scope.MirrorScope;

/**
 * The two sides of a comparison.
 *
 * @param source closed by the caller, like {@code target}
 * @param reading deadlines and page sizes, on either side
 * @param leases whether a key that has a lease on one side must have one on the other
 * @param keepsForeign whether keys that the target held before the first checkpoint may be there though the source
 *     doesn't have them
 */
public record Sides(
        String mirror,
        MirrorScope scope,
        EtcdCluster source,
        EtcdCluster target,
        EtcdFeedOptions reading,
        boolean leases,
        boolean keepsForeign) {

    /** Returns the sides with another page size. */
    Sides readBy(long pageBytes) {
        return new Sides(mirror, scope, source, target, reading.withPageBytes(pageBytes), leases, keepsForeign);
    }
}
