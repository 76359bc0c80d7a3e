package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.feed.etcd.TailKeeper.TailRetry;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Against a member that sends responses in an order that etcd allows, and rarely has.
 *
 * <p>Tests invariants F3, F4.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class TailTest {

    private static final Position AT_10 = new Position(new ClusterId(7), new Revision(10), null);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Start revisions of the watches, in order. */
    private final List<Long> watches = new CopyOnWriteArrayList<>();
    /** Responses to each watch, in order. */
    private final List<List<WatchResponse>> responses = new CopyOnWriteArrayList<>();

    private Server member;
    private ManagedChannel channel;

    @BeforeEach
    void start() throws Exception {
        member = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new WatchGrpc.WatchImplBase() {
                    @Override
                    public StreamObserver<WatchRequest> watch(StreamObserver<WatchResponse> to) {
                        return new Requests(to);
                    }
                })
                .build()
                .start();
        channel = NettyChannelBuilder.forAddress("127.0.0.1", member.getPort())
                .usePlaintext()
                .build();
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        member.shutdownNow();
    }

    @Test
    void progressBeforeTheWatchIsCreatedProvesNothing() throws Exception {
        responses.add(List.of(progress(15), created(10), commit(12), progress(15)));

        assertThat(events(Recognition.followingLive(AT_10), AT_10, 4))
                .containsExactly("opened 10", "marked 10", "commit 12", "marked 15");
    }

    @Test
    void progressBeforeTheWatchIsCreatedIsNoOtherHistory() throws Exception {
        Position anchored = new Position(
                AT_10.cluster(),
                new Revision(14),
                Position.Anchor.of(new Commit(
                        new Revision(12),
                        List.of(WatchMessages.change(commit(12).getEvents(0))))));
        responses.add(List.of(progress(15), created(15), commit(12), progress(15)));

        assertThat(events(Recognition.resuming(anchored), anchored, 2)).containsExactly("opened 14", "marked 15");
    }

    @Test
    void aCommitAppliedWhileTheLiveWatchIsCreatedIsDroppedIfConsumed() throws Exception {
        responses.add(List.of(created(10), commit(10), commit(11)));

        assertThat(events(Recognition.followingLive(AT_10), AT_10, 3))
                .containsExactly("opened 10", "marked 10", "commit 11");
    }

    @Test
    void aMemberAheadIsWatchedFromTheNextRevision() throws Exception {
        responses.add(List.of(created(15)));
        responses.add(List.of(created(15), commit(12)));

        assertThat(events(Recognition.followingLive(AT_10), AT_10, 2)).containsExactly("opened 10", "commit 12");
        assertThat(watches).containsExactly(0L, 11L);
    }

    @Test
    void aMemberBehindIsLeft() {
        responses.add(List.of(created(9)));

        assertThatThrownBy(() -> events(Recognition.followingLive(AT_10), AT_10, 1))
                .isInstanceOfSatisfying(TailLostException.class, loss -> assertThat(loss.reason())
                        .isEqualTo(TailLostException.Reason.BEHIND));
    }

    /** etcd may need minutes for the first fragment; without fragments the response is too large again. */
    @Test
    void fragmentsStayRequestedAndTheTimeoutGrowsAfterStalls() {
        TailRetry retry = TailRetry.initial(PATIENCE);
        assertThat(retry.after(TailLostException.Reason.STALLED).fragments()).isFalse();

        retry = retry.after(TailLostException.Reason.TOO_LARGE);
        for (int i = 0; i < 20; i++) {
            retry = retry.after(TailLostException.Reason.STALLED);
        }

        assertThat(retry.fragments()).isTrue();
        assertThat(retry.stallTimeout()).isEqualTo(PATIENCE.multipliedBy(256));
    }

    private List<String> events(Recognition recognition, Position position, int count) throws Exception {
        List<String> events = new ArrayList<>();
        Tail tail = new Tail(
                "member",
                channel,
                KeyRange.all(),
                false,
                position,
                recognition,
                true,
                EtcdFeedOptions.DEFAULTS,
                TailRetry.initial(PATIENCE),
                false,
                new SourceFacts(null, PATIENCE));
        try (tail) {
            while (events.size() < count) {
                TailEvent event = tail.next(PATIENCE);
                if (event instanceof TailEvent.Opened opened) {
                    events.add("opened " + opened.position().revision());
                } else if (event instanceof TailEvent.Committed committed) {
                    events.add("commit " + committed.commit().revision());
                } else if (event instanceof TailEvent.Marked marked) {
                    events.add("marked " + marked.position().revision());
                }
            }
        }
        return events;
    }

    private static WatchResponse created(long revision) {
        return progress(revision).toBuilder().setCreated(true).build();
    }

    private static WatchResponse progress(long revision) {
        return WatchResponse.newBuilder()
                .setHeader(ResponseHeader.newBuilder()
                        .setClusterId(AT_10.cluster().value())
                        .setRevision(revision))
                .build();
    }

    private static WatchResponse commit(long revision) {
        return progress(revision).toBuilder()
                .addEvents(Event.newBuilder()
                        .setKv(KeyValue.newBuilder()
                                .setKey(ByteString.copyFromUtf8("key"))
                                .setCreateRevision(1)
                                .setModRevision(revision)
                                .setVersion(revision)))
                .build();
    }

    /** Responds to a watch as the test demands, and to nothing else. */
    private final class Requests implements StreamObserver<WatchRequest> {
        private final StreamObserver<WatchResponse> to;

        Requests(StreamObserver<WatchResponse> to) {
            this.to = to;
        }

        @Override
        public void onNext(WatchRequest request) {
            if (request.hasCreateRequest()) {
                watches.add(request.getCreateRequest().getStartRevision());
                responses.remove(0).forEach(to::onNext);
            }
        }

        @Override
        public void onError(Throwable failure) {
            // The tail was closed.
        }

        @Override
        public void onCompleted() {
            to.onCompleted();
        }
    }
}
