package io.understudy.mirror.status;

/**
 * One mirror of a running process, as a line of a table; unknown values are {@code -}.
 *
 * @param isReady whether the target is known to be the source's state at a revision
 */
public record MirrorLine(
        String name,
        String source,
        String target,
        String state,
        String checkpoint,
        String lagRevisions,
        String lagMillis,
        String changesPerSecond,
        String differing,
        String reason,
        boolean isReady) {}
