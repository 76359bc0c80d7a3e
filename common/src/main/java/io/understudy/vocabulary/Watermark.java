package io.understudy.vocabulary;

import java.time.Instant;

/**
 * All commits up to {@code revision} are applied, and that was current at {@code asOf}.
 *
 * @param asOf the moment a read-index round that answered {@code revision} or less was <em>sent</em>. Progress marks
 *     never move it: they prove completeness, not currency
 */
public record Watermark(Revision revision, Instant asOf) {}
