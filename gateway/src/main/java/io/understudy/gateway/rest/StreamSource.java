package io.understudy.gateway.rest;

import io.micrometer.core.instrument.Counter;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.hub.WatchHub;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;

/**
 * The source of commit streams.
 *
 * @param range that can be watched
 * @param heartbeatInterval after which a quiet client receives its revision
 */
public record StreamSource(
        WatchHub hub, KeyRange range, ReadPermissions permissions, Duration heartbeatInterval, Counter revocations) {}
