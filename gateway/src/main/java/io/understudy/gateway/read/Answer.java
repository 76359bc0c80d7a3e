package io.understudy.gateway.read;

import io.understudy.gateway.api.OpResult;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A read's result, with what the caller is told of it beside.
 *
 * @param revision of the answer's header
 * @param staleness of the state that was read; null when nobody knows
 */
public record Answer<R extends OpResult>(
        R result, long revision, @Nullable Duration staleness) {}
