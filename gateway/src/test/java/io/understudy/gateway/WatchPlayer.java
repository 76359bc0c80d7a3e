package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.understudy.local.etcd.EtcdMember;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Plays one script to etcd and to a gateway that follows it, and compares the responses. Both see the same writes, so
 * revisions are equal; natural differences ({@link WatchClient#comparable}) are left out.
 *
 * <p>After each step both settle, so that responses have one possible order and form. Steps inside of {@link #burst}
 * follow each other without that, and are compared by {@linkplain #assertSameEvents events} only.
 */
final class WatchPlayer implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** The time without a response after which a stream counts as complete. */
    private static final Duration QUIET = Duration.ofMillis(300);

    /** Answered in order and without effect: shows that all earlier requests were processed. */
    private static final WatchRequest FENCE = WatchRequests.create("fence", "a", create -> {});

    private final GatewayFixture gateway;
    private final ManagedChannel direct;
    private final KVBlockingStub etcd;
    private final Map<Integer, Pair> streams = new TreeMap<>();
    private boolean inBurst;

    private static final class Pair {
        private final WatchClient ofEtcd;
        private final WatchClient ofGateway;
        private int fences;

        Pair(WatchClient ofEtcd, WatchClient ofGateway) {
            this.ofEtcd = ofEtcd;
            this.ofGateway = ofGateway;
        }

        void send(WatchRequest request) {
            ofEtcd.send(request);
            ofGateway.send(request);
        }

        boolean isOpen() {
            return ofEtcd.status() == null && ofGateway.status() == null;
        }

        void fence() {
            if (isOpen()) {
                fences++;
                send(FENCE);
            }
        }

        boolean fencesAreBack() {
            return !isOpen() || (fences(ofEtcd) == fences && fences(ofGateway) == fences);
        }

        private static int fences(WatchClient client) {
            return (int) client.received().stream().filter(WatchPlayer::isFence).count();
        }
    }

    WatchPlayer(EtcdMember member, GatewayFixture gateway) {
        this.gateway = gateway;
        this.direct = GatewayFixture.channel(
                member.clientUrl().getHost(), member.clientUrl().getPort());
        this.etcd = GatewayFixture.kv(direct);
    }

    /** Sends a request on a stream, which is opened by its first one. */
    WatchPlayer send(int stream, WatchRequest request) {
        pair(stream).send(request);
        return step();
    }

    /** Writes to the source; {@code write} returns the revision. */
    WatchPlayer write(ToLongFunction<KVBlockingStub> write) {
        long revision = write.applyAsLong(etcd);
        gateway.awaitRevision(revision);
        return step();
    }

    /** The client has no further requests. */
    WatchPlayer halfClose(int stream) {
        Pair pair = pair(stream);
        pair.ofEtcd.halfClose();
        pair.ofGateway.halfClose();
        return step();
    }

    /** Runs steps without waiting in between. */
    WatchPlayer burst(Runnable steps) {
        inBurst = true;
        steps.run();
        inBurst = false;
        return this;
    }

    /** The comparable responses of etcd on a stream; the gateway's are equal after {@link #assertSame}. */
    List<String> responses(int stream) {
        return responses(pair(stream).ofEtcd);
    }

    WatchClient ofGateway(int stream) {
        return pair(stream).ofGateway;
    }

    /** Both sent the same responses in the same order, and nothing more. */
    void assertSame() {
        fence();
        await().during(QUIET)
                .atMost(PATIENCE)
                .untilAsserted(() -> streams.forEach((number, pair) -> assertThat(responses(pair.ofGateway))
                        .as("stream %s of the gateway", number)
                        .isEqualTo(responses(pair.ofEtcd))));
    }

    /** Each watcher received the same events in the same order, across responses. */
    void assertSameEvents(int stream, long watchId) {
        Pair pair = pair(stream);
        await().during(QUIET).atMost(PATIENCE).untilAsserted(() -> assertThat(pair.ofGateway.eventsOf(watchId))
                .as("watcher %s on stream %s of the gateway", watchId, stream)
                .isEqualTo(pair.ofEtcd.eventsOf(watchId)));
    }

    private Pair pair(int stream) {
        return streams.computeIfAbsent(
                stream, number -> new Pair(new WatchClient(direct), new WatchClient(gateway.channel())));
    }

    private WatchPlayer step() {
        if (!inBurst) {
            fence();
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(2))
                    .untilAsserted(() -> streams.forEach((number, pair) -> assertThat(responses(pair.ofGateway))
                            .as("stream %s of the gateway", number)
                            .isEqualTo(responses(pair.ofEtcd))));
        }
        return this;
    }

    private void fence() {
        streams.values().forEach(Pair::fence);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(2)).until(() -> streams.values().stream()
                .allMatch(Pair::fencesAreBack));
    }

    /** In order, except for watchers with events of one commit, which arrive in any order. */
    private static List<String> responses(WatchClient client) {
        List<String> responses = new ArrayList<>();
        List<WatchResponse> together = new ArrayList<>();
        for (WatchResponse response : client.received()) {
            if (!isFence(response)) {
                if (!together.isEmpty() && !areOfOneCommit(together.get(0), response)) {
                    addSorted(responses, together);
                }
                together.add(response);
            }
        }
        addSorted(responses, together);
        return responses;
    }

    private static boolean areOfOneCommit(WatchResponse one, WatchResponse other) {
        return one.getEventsCount() > 0
                && other.getEventsCount() > 0
                && one.getHeader().getRevision() == other.getHeader().getRevision();
    }

    private static void addSorted(List<String> responses, List<WatchResponse> together) {
        together.stream()
                .sorted(Comparator.comparingLong(WatchResponse::getWatchId))
                .map(WatchClient::comparable)
                .forEach(responses::add);
        together.clear();
    }

    private static boolean isFence(WatchResponse response) {
        return response.getCancelReason().equals("mvcc: watcher range is empty");
    }

    @Override
    public void close() {
        streams.values().forEach(pair -> {
            pair.ofEtcd.close();
            pair.ofGateway.close();
        });
        direct.shutdownNow();
    }
}
