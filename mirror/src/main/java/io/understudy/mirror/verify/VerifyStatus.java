package io.understudy.mirror.verify;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * State of the background comparison.
 *
 * @param passes how often all keys have been compared since the start
 * @param lastPass when the last pass ended; null before the first
 * @param keys compared in the last whole pass; before its end, so far in the first
 * @param differing keys that differed in their last comparison
 * @param differences the first of them, in key order
 * @param repaired how many were repaired since the start
 * @param problem why the last attempt failed; null if it didn't
 */
public record VerifyStatus(
        long passes,
        @Nullable Instant lastPass,
        long keys,
        long differing,
        List<Difference> differences,
        long repaired,
        @Nullable String problem) {}
