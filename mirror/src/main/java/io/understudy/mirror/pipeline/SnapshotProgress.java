package io.understudy.mirror.pipeline;

import java.util.OptionalLong;

/**
 * How far a snapshot is copied.
 *
 * @param keys of the source that were given to the target, or found there
 * @param total how many there are, about: they were counted while it began; empty while that is not known
 * @param keysPerSecond since it began
 * @param remainingMillis at that rate; empty while {@code total} is not known
 */
public record SnapshotProgress(long keys, OptionalLong total, double keysPerSecond, OptionalLong remainingMillis) {}
