package io.understudy.feed.etcd;

import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.Remedy;
import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reads one revision of ranges in pages, by serializable reads from a learner if possible. It waits until the learner
 * has reached the revision; without one, it reads from voters. Being pinned, pages may come from different members. The
 * next pages are requested while the consumer processes the last.
 *
 * <p>Not thread-safe, except {@link #close}.
 *
 * <p>Invariant F10: snapshot pages come from a learner if there is one, and fit the message limit.
 */
public final class SnapshotReader implements AutoCloseable {

    /** A page: all there is in {@code covered}. */
    public record Page(KeyRange covered, List<KeyValue> entries) {

        /** Bytes of keys and values. */
        public long bytes() {
            return entries.stream().mapToLong(KeyValue::bytes).sum();
        }
    }

    /** The revision was compacted during the read: restart at a later one. */
    public static final class CompactedException extends Exception {}

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotReader.class);

    /** Pause before a page is requested again, for example from a lagging member. */
    private static final long RETRY_MILLIS = 20;

    private static final int MAX_REFUSALS_OF_ONE_KEY = 3;

    private final EtcdCluster cluster;
    private final ClusterId clusterId;
    private final Revision revision;
    private final EtcdFeedOptions options;
    private final Backoff backoff;
    private final PageChain pages;

    private @Nullable Endpoint givenBy;
    private int refusalsOfOneKey;
    /** The member that has not reached the revision, and when that was first seen. */
    private @Nullable Endpoint behind;

    private long behindSinceNanos;

    /**
     * A reader with a backoff of its own.
     *
     * @param clusterId that must be the answering members' own
     * @param revision to be read; a member that hasn't reached it is waited for
     */
    public SnapshotReader(
            EtcdCluster cluster, ClusterId clusterId, KeyRange range, Revision revision, EtcdFeedOptions options) {
        this(cluster, clusterId, List.of(range), revision, options, new Backoff());
    }

    /**
     * @param ranges disjoint, in key order
     * @param backoff is notified of failures, for its owner to wait
     */
    SnapshotReader(
            EtcdCluster cluster,
            ClusterId clusterId,
            List<KeyRange> ranges,
            Revision revision,
            EtcdFeedOptions options,
            Backoff backoff) {
        this.cluster = cluster;
        this.clusterId = clusterId;
        this.revision = revision;
        this.options = options;
        this.backoff = backoff;
        this.pages = new PageChain(cluster, clusterId, ranges, revision, options);
    }

    boolean isOf(ClusterId cluster, Revision at) {
        return clusterId.equals(cluster) && revision.equals(at);
    }

    /** Requests the first pages ahead. */
    void begin() {
        pages.advance();
    }

    /** The received entry of the highest mod revision, null if there is none. */
    @Nullable KeyValue newest() {
        io.etcd.jetcd.api.KeyValue newest = pages.newest();
        return newest == null ? null : EtcdMessages.keyValue(newest);
    }

    /** The member that served the last page; null before the first. */
    public @Nullable Endpoint givenBy() {
        return givenBy;
    }

    /** Whether the last page has arrived, taken or not. */
    boolean isRead() {
        return pages.isRead();
    }

    /** Whether the last page was delivered. */
    public boolean isDone() {
        return pages.isTaken();
    }

    /**
     * The next page, or null on timeout or failure; then call again, after a pause.
     *
     * @throws CompactedException the revision is compacted
     */
    public @Nullable Page next(Duration timeout)
            throws CompactedException, AnotherCluster, Unexplained, InterruptedException {
        if (isDone()) {
            throw new IllegalStateException("snapshot is already complete");
        }
        PageChain.Outcome outcome = pages.take(timeout);
        if (outcome instanceof PageChain.Outcome.Answer answer) {
            return page(answer);
        }
        if (outcome instanceof PageChain.Outcome.Foreign foreign) {
            giveUp(foreign.member(), "endpoint reaches cluster " + foreign.cluster() + ", expected " + clusterId);
            SourceFacts.requireOwnCluster(cluster, clusterId);
        } else if (outcome instanceof PageChain.Outcome.Failure failure) {
            failed(failure);
        } else if (outcome instanceof PageChain.Outcome.NoMember) {
            SourceFacts.requireOwnCluster(cluster, clusterId);
            backoff.failed();
        }
        return null;
    }

    @Override
    public void close() {
        pages.close();
    }

    private Page page(PageChain.Outcome.Answer answer) {
        backoff.succeeded();
        refusalsOfOneKey = 0;
        behind = null;
        givenBy = answer.member();
        List<KeyValue> entries = new ArrayList<>(answer.response().getKvsCount());
        for (io.etcd.jetcd.api.KeyValue entry : answer.response().getKvsList()) {
            entries.add(EtcdMessages.keyValue(entry));
        }
        return new Page(answer.covered(), entries);
    }

    /** Decides how to continue; the next call requests the page again. */
    private void failed(PageChain.Outcome.Failure page) throws CompactedException, Unexplained, InterruptedException {
        EtcdFailure failure = EtcdErrors.classify(Duty.SNAPSHOT, page.status());
        if (failure.error() == EtcdError.COMPACTED) {
            throw new CompactedException();
        }
        boolean isBehind = failure.error() == EtcdError.FUTURE_REVISION;
        if (failure.remedy() == Remedy.FATAL || (failure.remedy() == Remedy.CALLERS_FAULT && !isBehind)) {
            throw new Unexplained(
                    "snapshot rejected by " + page.member() + ": " + failure,
                    page.status().asException());
        }
        boolean tooLarge = EtcdErrors.isMessageTooLarge(page.status());
        // Of a member that does not respond, or more than the link carries in time.
        boolean isLate = page.status().getCode() == Status.Code.DEADLINE_EXCEEDED;
        boolean isHalved = (tooLarge || isLate) && pages.halve(page.keys());
        if (tooLarge && !isHalved && ++refusalsOfOneKey >= MAX_REFUSALS_OF_ONE_KEY) {
            throw new Unexplained(
                    "cannot read the first key from " + page.range().from() + " at " + page.member() + ": " + failure);
        }
        if (isLate || (!isHalved && (!isBehind || isBehindForLong(page.member())))) {
            if (isLate && !isHalved) {
                LOG.atWarn()
                        .addKeyValue("member", page.member())
                        .addKeyValue(
                                "request_timeout_ms", options.requestTimeout().toMillis())
                        .addKeyValue("cause", failure)
                        .log("snapshot page of one key not received in time; retrying");
            }
            giveUp(page.member(), failure.toString());
            return;
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
    }

    /** Whether the member has been behind for longer than a request may take. */
    private boolean isBehindForLong(Endpoint member) {
        if (!member.equals(behind)) {
            behind = member;
            behindSinceNanos = System.nanoTime();
        }
        return System.nanoTime() - behindSinceNanos > options.requestTimeout().toNanos();
    }

    private void giveUp(Endpoint endpoint, String why) {
        LOG.atLevel(backoff.isFirst() ? Level.INFO : Level.DEBUG)
                .addKeyValue("member", endpoint)
                .addKeyValue("revision", revision)
                .addKeyValue("cause", why)
                .log("snapshot continues on another member");
        cluster.reportFailure(endpoint, Duty.SNAPSHOT, why);
        behind = null;
        backoff.failed();
    }
}
