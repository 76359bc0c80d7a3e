package io.understudy.mirror.pipeline;

import java.util.OptionalLong;

/**
 * The progress of a snapshot.
 *
 * @param keys keys of the source that were written to the target or found there
 * @param total approximate number of keys at the start; empty while unknown
 * @param keysPerSecond since it began
 * @param remainingMillis at that rate; empty while {@code total} is not known
 */
public record SnapshotProgress(long keys, OptionalLong total, double keysPerSecond, OptionalLong remainingMillis) {}
