package io.understudy.gateway.hub;

import io.understudy.gateway.replica.LoggedCommit;
import java.util.concurrent.CompletableFuture;

/**
 * Learns how the keys of a commit stood before it, where no state tells: from the source.
 *
 * <p>Invariant V7: watches continue while the replica is dropped, with previous values read from the source.
 */
@FunctionalInterface
public interface PreviousEntries {

    /**
     * Has the commit {@linkplain LoggedCommit#learnPrevious learn} it. Retries what can pass; several calls for one commit
     * share the work. For any thread.
     *
     * @return completes, on any thread, once the commit knows; fails if the source does not serve it; cancelled if the
     *     source is closed
     */
    CompletableFuture<Void> learn(LoggedCommit commit);
}
