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

/** All changes at a source from its first commit on, with the previous key-value pairs. */
final class CommitTruth {

    /** A change, and the previous key-value pair; null if there was none. */
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

    /** @param events all in order, as a watch of all keys from revision 1 delivers them */
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

    /** Writes a last key, and returns the changes that a watch on the leader delivers up to it. */
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

    /** Returns the changes from one revision to another, inclusive, that match a filter. */
    List<Happened> wanted(WatchRecord.Selection selection, long from, long to) {
        List<Happened> wanted = new ArrayList<>();
        if (from <= to) {
            commits.subMap(from, true, to, true).values().forEach(commit -> commit.stream()
                    .filter(happened -> selection.wants(happened.event()))
                    .forEach(wanted::add));
        }
        return wanted;
    }

    /** Returns the first change from a revision on that matches a filter; null if there is none. */
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

    /** Returns the change of an event; null if there was none. */
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
