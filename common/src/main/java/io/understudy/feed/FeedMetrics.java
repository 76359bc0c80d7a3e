package io.understudy.feed;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.understudy.metrics.CommonMeter;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Revision;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** Metrics of every feed, tagged with its source's {@code feed} name. Thread-safe; one for all feeds of a source. */
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
     * @param name distinguishes this source's metrics from another's in the same process
     */
    public FeedMetrics(String name, MeterRegistry registry) {
        this.registry = registry;
        this.tags = Tags.of("feed", name);
        this.commits = counter(CommonMeter.FEED_COMMITS);
        this.changes = counter(CommonMeter.FEED_CHANGES);
        this.bytes = counter(CommonMeter.FEED_BYTES);
        this.snapshots = counter(CommonMeter.FEED_SNAPSHOTS);
        this.snapshotKeys = counter(CommonMeter.FEED_SNAPSHOT_KEYS);
        CommonMeter.FEED_REVISION
                .gauge(revision, AtomicLong::get)
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    private Counter counter(CommonMeter meter) {
        return meter.counter().tags(tags).register(registry);
    }

    /** Counts a delivered commit. */
    public void committed(Commit commit) {
        commits.increment();
        changes.increment(commit.changes().size());
        bytes.increment((double) commit.bytes());
        revision.set(commit.revision().value());
    }

    /** Records that all commits up to that revision are delivered. */
    public void complete(Revision upTo) {
        revision.set(upTo.value());
    }

    /** A snapshot was started. */
    public void snapshotStarted() {
        snapshots.increment();
    }

    /** Counts a delivered snapshot page. */
    public void snapshotPage(int keys) {
        snapshotKeys.increment(keys);
    }

    /** A feed reopened its stream, for one of few reasons. */
    public void reopened(Enum<?> reason) {
        CommonMeter.FEED_REOPENS
                .counter()
                .tags(tags.and("reason", reason.name().toLowerCase(Locale.ROOT)))
                .register(registry)
                .increment();
    }

    /** A feed ended. */
    public void ended(FeedEndedException cause) {
        CommonMeter.FEED_ENDED
                .counter()
                .tags(tags.and("cause", cause.getClass().getSimpleName()))
                .register(registry)
                .increment();
    }
}
