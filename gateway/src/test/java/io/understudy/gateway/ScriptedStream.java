package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.Event.EventType;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchCreateRequest.FilterType;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Channel;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * One watch stream of a script, played to etcd and to a gateway, with the expected responses. It waits for them before it
 * continues, so that only one outcome is possible.
 */
final class ScriptedStream implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final TextFormat.Printer ONE_LINE = TextFormat.printer().emittingSingleLine(true);

    /** Its answer shows that earlier requests, which may have none, were processed. */
    private static final WatchRequest REFUSED = WatchRequests.create("b", "a", create -> {});

    private final int number;
    private final WatchClient ofEtcd;
    private final WatchClient ofGateway;
    private final List<Event> history;
    private final Map<Long, OpenWatch> open = new TreeMap<>();
    private final List<String> steps;
    private int eventsOfCanceled;
    private boolean mayCatchUp;
    private int answers;
    private int compacted;
    private int progresses;

    /** An open watcher with its create request. */
    private static final class OpenWatch {
        private final WatchCreateRequest request;
        private final long from;
        private final boolean compacted;
        private int seen;
        private int events;

        OpenWatch(WatchCreateRequest request, long from, boolean compacted) {
            this.request = request;
            this.from = from;
            this.compacted = compacted;
        }

        int events(List<Event> history) {
            for (; seen < history.size(); seen++) {
                if (!compacted && concerns(history.get(seen))) {
                    events++;
                }
            }
            return events;
        }

        private boolean concerns(Event event) {
            ByteString key = request.getKey().isEmpty() ? GatewayFixture.ZERO : request.getKey();
            FilterType filter = event.getType() == EventType.PUT ? FilterType.NOPUT : FilterType.NODELETE;
            return event.getKv().getModRevision() >= from
                    && KeyRange.ofEtcd(key, request.getRangeEnd())
                            .contains(event.getKv().getKey())
                    && !request.getFiltersList().contains(filter);
        }
    }

    /**
     * @param history all events so far; grows
     * @param steps records the requests
     */
    ScriptedStream(int number, Channel etcd, Channel gateway, List<Event> history, List<String> steps) {
        this.number = number;
        this.steps = steps;
        this.ofEtcd = new WatchClient(etcd);
        this.ofGateway = new WatchClient(gateway);
        this.history = history;
    }

    /** Both are at revision {@code now}, and nothing happens until this returns. */
    void create(WatchRequest request, long now, long compactRevision) {
        send(request);
        awaitAnswer();
        WatchResponse answer = answers(ofEtcd).get(answers - 1);
        if (!answer.getCanceled()) {
            WatchCreateRequest create = request.getCreateRequest();
            long start = create.getStartRevision();
            boolean isCompacted = start != 0 && start < compactRevision;
            open.put(answer.getWatchId(), new OpenWatch(create, start == 0 ? now + 1 : start, isCompacted));
            compacted += isCompacted ? 1 : 0;
            mayCatchUp |= start != 0 && start <= now;
        }
    }

    /** As {@link #create}. */
    void cancel(long id) {
        settle();
        send(WatchRequests.cancel(id));
        OpenWatch canceled = open.remove(id);
        if (canceled != null) {
            eventsOfCanceled += canceled.events(history);
            awaitAnswer();
        }
    }

    /** Both are at revision {@code now}, and no watcher is catching up. */
    void requestProgress(long now) {
        settle();
        send(WatchRequests.progress());
        send(REFUSED);
        awaitAnswer();
        boolean known =
                open.values().stream().allMatch(watch -> !watch.compacted && watch.request.getStartRevision() <= now);
        progresses += known && !open.isEmpty() ? 1 : 0;
        settle();
    }

    /** Whether a watcher may still be unsynced. */
    boolean mayCatchUp() {
        return mayCatchUp;
    }

    void caughtUp() {
        mayCatchUp = false;
    }

    List<Long> ids() {
        return List.copyOf(open.keySet());
    }

    /** Waits until both have delivered all responses. */
    void settle() {
        int events = eventsOfCanceled
                + open.values().stream()
                        .mapToInt(watch -> watch.events(history))
                        .sum();
        Counts expected = new Counts(answers, compacted, progresses, events);
        until("etcd", () -> counts(ofEtcd), expected);
        until("the gateway", () -> counts(ofGateway), expected);
    }

    /** Both have delivered the same, with the guarantees of etcd. */
    void assertSame() {
        settle();
        Map<Long, List<String>> received = received(ofGateway);
        received(ofEtcd).forEach((id, expected) -> assertThat(received.remove(id))
                .as("told to watcher %s by the gateway", id)
                .containsExactlyElementsOf(expected));
        assertThat(received).as("told by the gateway alone").isEmpty();
        assertThat(answers(ofGateway).stream().map(WatchClient::comparable).toList())
                .as("answers of the gateway")
                .isEqualTo(answers(ofEtcd).stream().map(WatchClient::comparable).toList());
        assertThat(progresses(ofGateway)).as("progress told by the gateway").isEqualTo(progresses(ofEtcd));
        assertGuarantees(ofEtcd);
        assertGuarantees(ofGateway);
    }

    /** The responses of both, for reports of a difference. */
    @Override
    public String toString() {
        return "stream " + number + " of etcd:\n" + text(ofEtcd) + "\nstream " + number + " of the gateway:\n"
                + text(ofGateway);
    }

    private void send(WatchRequest request) {
        steps.add("stream " + number + ": " + ONE_LINE.printToString(request));
        ofEtcd.send(request);
        ofGateway.send(request);
    }

    private void awaitAnswer() {
        answers++;
        until("etcd", () -> answers(ofEtcd).size(), answers);
        until("the gateway", () -> answers(ofGateway).size(), answers);
    }

    private static <T> void until(String cluster, Supplier<T> received, T expected) {
        if (!received.get().equals(expected)) {
            await().atMost(PATIENCE)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .untilAsserted(() ->
                            assertThat(received.get()).as("told by %s", cluster).isEqualTo(expected));
        }
    }

    private static String text(WatchClient client) {
        return client.received().stream().map(WatchClient::comparable).collect(Collectors.joining("\n"));
    }

    private record Counts(int answers, int compacted, int progresses, int events) {}

    private static Counts counts(WatchClient client) {
        int answers = 0;
        int compacted = 0;
        int progresses = 0;
        int events = 0;
        for (WatchResponse response : client.received()) {
            if (isCompacted(response)) {
                compacted++;
            } else if (isAnswer(response)) {
                answers++;
            } else if (response.getEventsCount() == 0) {
                progresses++;
            } else {
                events += response.getEventsCount();
            }
        }
        return new Counts(answers, compacted, progresses, events);
    }

    private static boolean isAnswer(WatchResponse response) {
        return !isCompacted(response) && (response.getCreated() || response.getCanceled());
    }

    private static boolean isCompacted(WatchResponse response) {
        return response.getCompactRevision() != 0;
    }

    /** In the order of the requests; events and progress arrive at any time. */
    private static List<WatchResponse> answers(WatchClient client) {
        return client.received().stream().filter(ScriptedStream::isAnswer).toList();
    }

    private static List<String> progresses(WatchClient client) {
        return client.received().stream()
                .filter(response -> response.getEventsCount() == 0 && !isAnswer(response) && !isCompacted(response))
                .map(WatchClient::comparable)
                .toList();
    }

    /** By ID, in order; across responses. */
    private static Map<Long, List<String>> received(WatchClient client) {
        Map<Long, List<String>> received = new TreeMap<>();
        for (WatchResponse response : client.received()) {
            List<String> ofId = received.computeIfAbsent(response.getWatchId(), id -> new ArrayList<>());
            if (isAnswer(response) || isCompacted(response)) {
                ofId.add(WatchClient.comparable(response));
            }
            response.getEventsList().forEach(event -> ofId.add(ONE_LINE.printToString(event)));
        }
        // Not ordered relative to other IDs.
        received.remove(-1L);
        return received;
    }

    /** Ordered, atomic and bookmarkable: no revision comes twice or late, or after a progress mark beyond it. */
    private static void assertGuarantees(WatchClient client) {
        Map<Long, Long> complete = new HashMap<>();
        Map<Long, Boolean> inFragments = new HashMap<>();
        for (WatchResponse response : client.received()) {
            long id = response.getWatchId();
            if (response.getCreated() && !response.getCanceled()) {
                complete.put(id, 0L);
            } else if (response.getEventsCount() > 0) {
                long first = response.getEvents(0).getKv().getModRevision();
                long last = response.getEvents(response.getEventsCount() - 1)
                        .getKv()
                        .getModRevision();
                assertThat(complete).as("created before events").containsKey(id);
                assertThat(first)
                        .as("not told before")
                        .isGreaterThan(complete.get(id) - (inFragments.getOrDefault(id, false) ? 1 : 0));
                assertThat(response.getHeader().getRevision()).isGreaterThanOrEqualTo(last);
                complete.put(id, last);
                inFragments.put(id, isFragment(response));
            } else if (!isAnswer(response) && !isCompacted(response)) {
                long revision = response.getHeader().getRevision();
                complete.replaceAll((any, before) -> Math.max(before, revision));
            }
        }
        assertThat(inFragments).as("every last fragment came").doesNotContainValue(true);
    }

    private static boolean isFragment(WatchResponse response) {
        return response.getUnknownFields().hasField(7);
    }

    @Override
    public void close() {
        ofEtcd.close();
        ofGateway.close();
    }
}
