package io.understudy.gateway;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.ManagedChannel;
import io.understudy.local.etcd.LocalEtcd;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All that happened at a source, from its first commit on, and how each key stood before each change. */
final class CommitTruth {

    /** A change, and how its key stood before; null if it wasn't there. */
    record Happened(Event event, @Nullable KeyValue before) {
        long revision() {
            return event.getKv().getModRevision();
        }

        ByteString key() {
            return event.getKv().getKey();
        }

        @Override
        public String toString() {
            return revision() + "/" + key().toStringUtf8();
        }
    }

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final NavigableMap<Long, List<Happened>> commits = new TreeMap<>();

    /** @param events all, in their order, as a watch of everything from revision 1 on tells them */
    CommitTruth(List<Event> events) {
        Map<ByteString, KeyValue> state = new HashMap<>();
        for (Event event : events) {
            KeyValue kv = event.getKv();
            KeyValue before =
                    event.getType() == Event.EventType.DELETE ? state.remove(kv.getKey()) : state.put(kv.getKey(), kv);
            commits.computeIfAbsent(kv.getModRevision(), revision -> new ArrayList<>())
                    .add(new Happened(event, before));
        }
    }

    /** What a cluster tells, up to a last write, which this does; for that a watch on its leader. */
    static CommitTruth of(LocalEtcd source) {
        URI leader = source.leader().directClientUrl();
        ManagedChannel direct = GatewayFixture.channel(leader.getHost(), leader.getPort());
        try (WatchClient watch = new WatchClient(direct)) {
            long head = GatewayFixture.kv(direct)
                    .put(PutRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("end"))
                            .build())
                    .getHeader()
                    .getRevision();
            watch.send(WatchRequests.create("\0", "\0", create -> create.setStartRevision(1)));
            await().atMost(PATIENCE).until(() -> {
                int responses = watch.received().size();
                List<Event> last = responses == 0
                        ? List.of()
                        : watch.received().get(responses - 1).getEventsList();
                return !last.isEmpty() && last.get(last.size() - 1).getKv().getModRevision() >= head;
            });
            List<Event> events = new ArrayList<>();
            watch.received().forEach(response -> response.getEventsList().stream()
                    .filter(event -> event.getKv().getModRevision() <= head)
                    .forEach(events::add));
            return new CommitTruth(events);
        } finally {
            direct.shutdownNow();
        }
    }

    /** The last revision at which anything happened. */
    long head() {
        return commits.isEmpty() ? 0 : commits.lastKey();
    }

    boolean has(long revision) {
        return commits.containsKey(revision);
    }

    /** What somebody wants of the commits from one revision up to another, both included. */
    List<Happened> wanted(WatchRecord.Selection selection, long from, long to) {
        List<Happened> wanted = new ArrayList<>();
        if (from <= to) {
            commits.subMap(from, true, to, true).values().forEach(commit -> commit.stream()
                    .filter(happened -> selection.wants(happened.event()))
                    .forEach(wanted::add));
        }
        return wanted;
    }

    /** The first of what somebody wants from a revision on; null if there is nothing. */
    @Nullable Happened first(WatchRecord.Selection selection, long from) {
        for (List<Happened> commit : commits.tailMap(from, true).values()) {
            for (Happened happened : commit) {
                if (selection.wants(happened.event())) {
                    return happened;
                }
            }
        }
        return null;
    }

    /** What an event tells of; null if nothing of the kind happened. */
    @Nullable Happened of(Event event) {
        KeyValue kv = event.getKv();
        for (Happened happened : commits.getOrDefault(kv.getModRevision(), List.of())) {
            if (happened.key().equals(kv.getKey())) {
                return happened;
            }
        }
        return null;
    }
}
