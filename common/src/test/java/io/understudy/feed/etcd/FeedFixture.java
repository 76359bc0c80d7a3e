package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.feed.SourceClient;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A source with feeds on it and a client past any proxy; closes all it opened. */
final class FeedFixture implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final FeedMetrics metrics = new FeedMetrics("test", meters);
    private final List<Runnable> closers = new ArrayList<>();
    private final LocalEtcd cluster;
    private final EtcdCluster source;
    private final SourceClient client;

    FeedFixture(LocalEtcd cluster) {
        this.cluster = cluster;
        this.source = connect(cluster.clientUrls(), MemberDiscovery.MEMBERS);
        this.client = new SourceClient(connect(
                cluster.voters().stream().map(EtcdMember::directClientUrl).toList(), MemberDiscovery.CONFIGURED));
    }

    /** The feed's way to the source: proxied where the cluster is. */
    EtcdCluster source() {
        return source;
    }

    /** A client that is never behind a proxy. */
    SourceClient client() {
        return client;
    }

    /** Compacts and waits until every member refuses older revisions. */
    void compact(Revision revision) {
        client.compact(revision);
        cluster.awaitApplied();
    }

    MeterRegistry meters() {
        return meters;
    }

    Feed feed(KeyRange range, FeedKind kind, @Nullable FeedStart start, EtcdFeedOptions options) {
        return feed(range, kind, start, options, System::nanoTime);
    }

    Feed feed(KeyRange range, FeedKind kind, @Nullable FeedStart start, EtcdFeedOptions options, LongSupplier clock) {
        Feed feed = new EtcdFeed(source, range, kind, start, options, metrics, clock);
        closers.add(feed::close);
        return feed;
    }

    /** A feed of another way to the source. */
    Feed feedOf(EtcdCluster other) {
        return feedOf(other, EtcdFeedOptions.DEFAULTS);
    }

    Feed feedOf(EtcdCluster other, EtcdFeedOptions options) {
        Feed feed = new EtcdFeed(other, KeyRange.all(), FeedKind.STATE, null, options, metrics, System::nanoTime);
        closers.add(feed::close);
        return feed;
    }

    /** Starts to drive a new model. */
    FeedRunner run(KeyRange range) {
        return run(feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS), new ModelConsumer(range));
    }

    FeedRunner run(Feed feed, ModelConsumer model) {
        FeedRunner runner = new FeedRunner(feed, model);
        closers.add(runner::close);
        return runner;
    }

    /** The feed reaches the source's revision of now, and the model then equals the source at the model's revision. */
    void assertEqual(FeedRunner runner, KeyRange range) {
        runner.awaitRevision(client.revision(), PATIENCE);
        runner.close();
        Position position = runner.read(ModelConsumer::position);
        assertThat(position).isNotNull();
        assertThat(runner.state()).isEqualTo(client.read(range, position.revision()));
    }

    double count(String meter) {
        return meters.find(meter).counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    /** Tails opened again for {@code reason}. */
    double reopens(String reason) {
        return meters.find("understudy.feed.reopens").tag("reason", reason).counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    /** Polls by hand until {@code revision} is reached. */
    static void pollTo(Feed feed, ModelConsumer model, Revision revision) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (model.position() == null || model.position().revision().isBefore(revision)) {
            assertThat(System.nanoTime())
                    .as("revision %s was reached in time", revision)
                    .isLessThan(deadline);
            feed.poll(Duration.ofMillis(100), model);
        }
    }

    EtcdCluster connect(List<URI> urls, MemberDiscovery discovery) {
        EtcdCluster cluster =
                EtcdCluster.connect(EtcdSettings.of(urls.toArray(URI[]::new)).withDiscovery(discovery), meters);
        closers.add(0, cluster::close);
        return cluster;
    }

    @Override
    public void close() {
        for (int last = closers.size() - 1; last >= 0; last--) {
            closers.get(last).run();
        }
    }
}
