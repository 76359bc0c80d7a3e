package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedMetrics;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Responses too large, from a member with one key, of revision 10. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class FragmentedWatchTest {

    private static final Duration POLL = Duration.ofMillis(50);
    private static final KeyValue ENTRY = KeyValue.newBuilder()
            .setKey(ByteString.copyFromUtf8("key"))
            .setCreateRevision(10)
            .setModRevision(10)
            .setVersion(1)
            .build();
    private static final Status TOO_LARGE =
            Status.RESOURCE_EXHAUSTED.withDescription("gRPC message exceeds maximum size 67108864: 80000000");

    private record Watch(WatchCreateRequest request, StreamObserver<WatchResponse> to) {}

    private final BlockingQueue<Watch> watches = new LinkedBlockingQueue<>();
    private final AtomicLong revision = new AtomicLong(10);
    private final List<String> events = new ArrayList<>();
    private Server member;
    private EtcdCluster cluster;
    private Feed feed;

    private final FeedConsumer consumer = new FeedConsumer() {
        @Override
        public void snapshotStarted(ClusterId source, Revision at) {}

        @Override
        public void snapshotPage(KeyRange covered, List<io.understudy.vocabulary.KeyValue> entries) {}

        @Override
        public void snapshotCompleted(Position position) {
            events.add("snapshot " + position.revision());
        }

        @Override
        public void commit(Commit commit, Position position) {
            events.add("commit " + position.revision());
        }

        @Override
        public void progress(Position position) {}
    };

    @BeforeEach
    void open() throws Exception {
        member = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Ranges())
                .addService(new Statuses())
                .addService(new Watches())
                .build()
                .start();
        cluster = EtcdCluster.connect(
                EtcdSettings.of(URI.create("http://127.0.0.1:" + member.getPort()))
                        .withDiscovery(MemberDiscovery.CONFIGURED),
                new SimpleMeterRegistry());
        feed = new EtcdFeed(
                cluster,
                KeyRange.all(),
                FeedKind.TRANSIENT,
                null,
                EtcdFeedOptions.DEFAULTS,
                new FeedMetrics("test", new SimpleMeterRegistry()),
                System::nanoTime);
    }

    @AfterEach
    void close() {
        feed.close();
        cluster.close();
        member.shutdownNow();
    }

    /** etcd takes minutes to split a large deletion, which a watch without fragments delivers at once. */
    @Test
    void fragmentsAreNotRequestedAfterASnapshot() throws Exception {
        Watch live = live();
        live.to().onError(Status.UNAVAILABLE.asRuntimeException());
        Watch far = next();
        assertThat(fragments(far)).isFalse();
        far.to().onError(TOO_LARGE.asRuntimeException());
        Watch fragmented = next();
        assertThat(fragments(fragmented)).isTrue();
        revision.set(7_000);
        serve(fragmented);

        Watch after = next();
        assertThat(after.request().getStartRevision()).isEqualTo(7_000);
        assertThat(fragments(after)).isFalse();
    }

    /** A watch that the first snapshot of the feed has reached. */
    private Watch live() throws Exception {
        Watch first = next();
        serve(first);
        pollUntil("snapshot 10");
        return first;
    }

    /** jetcd's message lacks the field. */
    private static boolean fragments(Watch watch) {
        return watch.request().getUnknownFields().hasField(8);
    }

    private void serve(Watch watch) {
        watch.to().onNext(response().setCreated(true).build());
        watch.to().onNext(commit(ENTRY.toBuilder()));
    }

    private Watch next() throws Exception {
        while (watches.isEmpty()) {
            boolean unused = feed.poll(POLL, consumer);
        }
        return watches.remove();
    }

    private void pollUntil(String event) throws Exception {
        while (!events.contains(event)) {
            boolean unused = feed.poll(POLL, consumer);
        }
    }

    private static WatchResponse commit(KeyValue.Builder entry) {
        return WatchResponse.newBuilder()
                .setHeader(header(entry.getModRevision()))
                .addEvents(Event.newBuilder().setKv(entry))
                .build();
    }

    private WatchResponse.Builder response() {
        return WatchResponse.newBuilder().setHeader(header(revision.get()));
    }

    private static ResponseHeader.Builder header(long revision) {
        return ResponseHeader.newBuilder().setClusterId(7).setMemberId(1).setRevision(revision);
    }

    private final class Ranges extends KVGrpc.KVImplBase {
        @Override
        public void range(RangeRequest request, StreamObserver<RangeResponse> to) {
            to.onNext(RangeResponse.newBuilder()
                    .setHeader(header(revision.get()))
                    .addKvs(ENTRY)
                    .setCount(1)
                    .build());
            to.onCompleted();
        }
    }

    private final class Statuses extends MaintenanceGrpc.MaintenanceImplBase {
        @Override
        public void status(StatusRequest request, StreamObserver<StatusResponse> to) {
            to.onNext(StatusResponse.newBuilder()
                    .setHeader(header(revision.get()))
                    .setVersion("3.7.3")
                    .setLeader(1)
                    .build());
            to.onCompleted();
        }
    }

    private final class Watches extends WatchGrpc.WatchImplBase {
        @Override
        public StreamObserver<WatchRequest> watch(StreamObserver<WatchResponse> to) {
            return new StreamObserver<>() {
                @Override
                public void onNext(WatchRequest request) {
                    if (request.hasCreateRequest()) {
                        watches.add(new Watch(request.getCreateRequest(), to));
                    }
                }

                @Override
                public void onError(Throwable failure) {
                    // The feed closed it.
                }

                @Override
                public void onCompleted() {
                    // The feed closed it.
                }
            };
        }
    }
}
