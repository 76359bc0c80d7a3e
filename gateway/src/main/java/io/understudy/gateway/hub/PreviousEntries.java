package io.understudy.gateway.hub;

import io.understudy.gateway.replica.LoggedCommit;
import java.util.concurrent.CompletableFuture;

/**
 * Reads the previous entries of a commit from the source, when the replica has none.
 *
 * <p>Invariant V7: watches continue while the replica is dropped, with previous values read from the source.
 */
@FunctionalInterface
public interface PreviousEntries {

    /**
     * Reads the previous entries of a commit and {@linkplain LoggedCommit#learnPrevious adds} them. Retries temporary
     * failures; concurrent calls for a commit share the work. Thread-safe.
     *
     * @return completes on any thread once the commit has them; fails if the source does not serve them; cancelled if
     *     the source is closed
     */
    CompletableFuture<Void> learn(LoggedCommit commit);
}
