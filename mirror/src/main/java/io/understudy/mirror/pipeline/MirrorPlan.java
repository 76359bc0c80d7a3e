package io.understudy.mirror.pipeline;

import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One direction of a mirror: its source, range and target.
 *
 * @param source the source of feeds, described by {@code sourceName}
 * @param head reads the source's revision, with its own deadline
 * @param isCurrent whether that is a read index: the source has nothing beyond it when the query is sent
 * @param outage why no endpoint of the source responds; empty while one does
 * @param count reads the number of keys of the range at the source, with its own deadline
 * @param role whether this process may write; closed when the mirror ends
 * @param former finds that both clusters hold the primary role, and closes the target if it is a former primary
 * @param sinks creates a sink for {@code targetName}; called again when the last one is unavailable
 */
public record MirrorPlan(
        KeyRange range,
        FeedKind kind,
        String sourceName,
        FeedSource source,
        Supplier<CompletableFuture<Revision>> head,
        boolean isCurrent,
        Supplier<Optional<String>> outage,
        Supplier<CompletableFuture<Long>> count,
        String targetName,
        ActiveRole role,
        Supplier<Optional<Conflict>> former,
        Function<SinkListener, Sink> sinks) {}
