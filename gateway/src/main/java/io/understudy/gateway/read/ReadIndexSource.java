package io.understudy.gateway.read;

import io.understudy.etcd.ReadIndex;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Confirms revisions by a quorum. */
@FunctionalInterface
public interface ReadIndexSource {

    /** Returns a revision confirmed by a quorum after this call; fails by the deadline. Completes on any thread. */
    CompletableFuture<ReadIndex> readIndex(Duration deadline);
}
