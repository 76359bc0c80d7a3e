package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
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

    /** The last revision at which anything happened. */
    long head() {
        return commits.isEmpty() ? 0 : commits.lastKey();
    }

    boolean has(long revision) {
        return commits.containsKey(revision);
    }

    /** What somebody wants of the commits from one revision up to another, both included. */
    List<Happened> wanted(WatchRecord.Wish wish, long from, long to) {
        List<Happened> wanted = new ArrayList<>();
        if (from <= to) {
            commits.subMap(from, true, to, true).values().forEach(commit -> commit.stream()
                    .filter(happened -> wish.wants(happened.event()))
                    .forEach(wanted::add));
        }
        return wanted;
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
