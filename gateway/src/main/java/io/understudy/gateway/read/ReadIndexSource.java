package io.understudy.gateway.read;

import io.understudy.etcd.ReadIndex;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Who confirms revisions. */
@FunctionalInterface
public interface ReadIndexSource {

    /** A revision confirmed by a quorum after this call; fails by the deadline. May complete on any thread. */
    CompletableFuture<ReadIndex> readIndex(Duration deadline);
}
