package io.understudy.gateway.history;

import com.google.protobuf.ByteString;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.SnapshotReader;
import io.understudy.gateway.hub.CommitHistory.CompactedException;
import io.understudy.gateway.hub.CommitHistory.PreviousEntries;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.LoggedCommit;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.DaemonThreads;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the previous entries of a commit from the source. Reads are serializable, at a fixed revision, from a learner
 * if there is one. A compacted entry is absent, as in etcd. A few commits are read at a time, on threads of their own;
 * the others wait in a queue that the event loops bound. Thread-safe.
 */
public final class SourceEntries implements PreviousEntries, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SourceEntries.class);

    private static final int THREADS = 4;

    /**
     * Maximum number of single reads; above it, one range is read. A plain transaction cannot have more keys, so the
     * commit deleted a range or a lease's keys.
     */
    private static final int MAX_SINGLE_READS = 128;

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final long FIRST_PAUSE_MILLIS = 20;
    private static final int MAX_DOUBLINGS = 6;

    private final EtcdCluster source;
    private final EtcdFeedOptions options;
    private final Map<LoggedCommit, CompletableFuture<Void>> learning = new ConcurrentHashMap<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final ExecutorService threads =
            Executors.newFixedThreadPool(THREADS, DaemonThreads.named("watch-previous"));

    /** @param options how pages are read */
    public SourceEntries(EtcdCluster source, EtcdFeedOptions options) {
        this.source = source;
        this.options = options;
    }

    @Override
    public CompletableFuture<Void> learn(LoggedCommit commit) {
        return learning.computeIfAbsent(commit, this::begin).copy();
    }

    /** Fails pending reads. Idempotent. */
    @Override
    public void close() {
        closing.countDown();
        threads.shutdownNow();
        learning.values().forEach(learned -> learned.cancel(false));
    }

    private CompletableFuture<Void> begin(LoggedCommit commit) {
        CompletableFuture<Void> learned = new CompletableFuture<>();
        if (closing.getCount() == 0) {
            learned.cancel(false);
            return learned;
        }
        threads.execute(() -> {
            try {
                commit.learnPrevious(entriesBefore(commit));
                learning.remove(commit);
                learned.complete(null);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                learned.cancel(false);
            } catch (FeedEndedException | RuntimeException | Error e) {
                // Errors too: otherwise this commit's future would never complete.
                LOG.atError()
                        .addKeyValue("revision", commit.revision())
                        .setCause(e)
                        .log("reading previous values failed");
                learning.remove(commit);
                learned.completeExceptionally(
                        e instanceof FeedEndedException.CommitTooLarge
                                ? CompactedException.hole(
                                        String.valueOf(e.getMessage()),
                                        commit.revision().next().value(),
                                        true)
                                : e);
            }
        });
        return learned;
    }

    private Map<ByteString, Entry> entriesBefore(LoggedCommit commit) throws FeedEndedException, InterruptedException {
        TreeSet<ByteString> keys = new TreeSet<>(KeyRange.KEY_ORDER);
        for (Entry change : commit.changes()) {
            keys.add(change.key());
        }
        List<KeyRange> ranges = new ArrayList<>();
        if (keys.size() > MAX_SINGLE_READS) {
            ranges.add(new KeyRange(keys.first(), KeyRange.single(keys.last()).to()));
        } else {
            keys.forEach(key -> ranges.add(KeyRange.single(key)));
        }
        Revision before = new Revision(commit.revision().value() - 1);
        Map<ByteString, Entry> entries = new HashMap<>();
        long bytes = 0;
        for (KeyRange range : ranges) {
            for (KeyValue entry : read(range, before, keys, options.maxCommitBytes() - bytes)) {
                bytes += entry.bytes();
                entries.put(entry.key(), Entry.of(entry));
            }
        }
        return entries;
    }

    /** Retries until it succeeds or fails for good. */
    private List<KeyValue> read(KeyRange range, Revision at, Set<ByteString> keys, long room)
            throws FeedEndedException, InterruptedException {
        int failures = 0;
        ClusterId cluster = source.view().clusterId();
        while (cluster == null) {
            pause(FIRST_PAUSE_MILLIS << Math.min(failures++, MAX_DOUBLINGS));
            cluster = source.view().clusterId();
        }
        List<KeyValue> found = new ArrayList<>();
        long bytes = 0;
        try (SnapshotReader reader = new SnapshotReader(source, cluster, range, at, options)) {
            failures = 0;
            while (!reader.isDone()) {
                SnapshotReader.Page page = reader.next(PATIENCE);
                if (page == null) {
                    pause(FIRST_PAUSE_MILLIS << Math.min(failures++, MAX_DOUBLINGS));
                    continue;
                }
                failures = 0;
                for (KeyValue entry : page.entries()) {
                    if (keys.contains(entry.key())) {
                        found.add(entry);
                        bytes += entry.bytes();
                        if (bytes > room) {
                            throw new FeedEndedException.CommitTooLarge(
                                    at.next(),
                                    KeyRange.shown(entry.key()),
                                    options.maxCommitBytes() - room + bytes,
                                    options.maxCommitBytes(),
                                    "feed.maxCommitBytes");
                        }
                    }
                }
            }
            return found;
        } catch (SnapshotReader.CompactedException e) {
            return List.of();
        }
    }

    private void pause(long millis) throws InterruptedException {
        if (closing.await(millis, TimeUnit.MILLISECONDS)) {
            throw new InterruptedException("closed");
        }
    }
}
