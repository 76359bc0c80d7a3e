package io.understudy.feed;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Revision;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a feed counts, tagged with its source's {@code feed} name: {@code understudy.feed.commits}, {@code .changes},
 * {@code .bytes}, {@code .snapshots}, {@code .snapshot.keys}, {@code .reopens} by {@code reason}, {@code .ended} by
 * {@code cause}, and the gauge {@code .revision}. Thread-safe; one for all feeds of a source.
 */
public final class FeedMetrics {

    private final MeterRegistry registry;
    private final Tags tags;
    private final Counter commits;
    private final Counter changes;
    private final Counter bytes;
    private final Counter snapshots;
    private final Counter snapshotKeys;
    private final AtomicLong revision = new AtomicLong();

    /**
     * Registers them.
     *
     * @param name tells this source's metrics from another's in the same process
     */
    public FeedMetrics(String name, MeterRegistry registry) {
        this.registry = registry;
        this.tags = Tags.of("feed", name);
        this.commits = registry.counter("understudy.feed.commits", tags);
        this.changes = registry.counter("understudy.feed.changes", tags);
        this.bytes =
                Counter.builder("understudy.feed").baseUnit("bytes").tags(tags).register(registry);
        this.snapshots = registry.counter("understudy.feed.snapshots", tags);
        this.snapshotKeys = registry.counter("understudy.feed.snapshot.keys", tags);
        registry.gauge("understudy.feed.revision", tags, revision);
    }

    /** A commit was given. */
    public void committed(Commit commit) {
        commits.increment();
        changes.increment(commit.changes().size());
        bytes.increment((double) commit.bytes());
        revision.set(commit.revision().value());
    }

    /** All commits up to that revision were given. */
    public void complete(Revision upTo) {
        revision.set(upTo.value());
    }

    /** A snapshot was started. */
    public void snapshotStarted() {
        snapshots.increment();
    }

    /** A page of a snapshot was given. */
    public void snapshotPage(int keys) {
        snapshotKeys.increment(keys);
    }

    /** A feed had to begin to listen anew, for one of few reasons. */
    public void reopened(Enum<?> reason) {
        registry.counter(
                        "understudy.feed.reopens",
                        tags.and("reason", reason.name().toLowerCase(Locale.ROOT)))
                .increment();
    }

    /** A feed ended. */
    public void ended(FeedEndedException cause) {
        registry.counter(
                        "understudy.feed.ended",
                        tags.and("cause", cause.getClass().getSimpleName()))
                .increment();
    }
}
