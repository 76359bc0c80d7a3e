package io.understudy.gateway;

import io.etcd.jetcd.api.Event;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;

/**
 * What one watcher was told, in the order in which it was told, over all the streams that it was on: when one ends it is
 * resumed on another, at {@link #next}. For any thread.
 */
final class WatchRecord {

    /** What the watcher asked for. */
    record Wish(KeyRange range, boolean previous, boolean noPuts, boolean noDeletes) {
        boolean wants(Event event) {
            return range.contains(event.getKv().getKey())
                    && !(event.getType() == Event.EventType.DELETE ? noDeletes : noPuts);
        }
    }

    /** What it was told. */
    sealed interface Told {
        /** It is created, or resumed: everything from that revision on follows. */
        record Begun(long from) implements Told {}

        /** One message with events. */
        record Events(long header, List<Event> events) implements Told {
            long first() {
                return events.get(0).getKv().getModRevision();
            }

            long last() {
                return events.get(events.size() - 1).getKv().getModRevision();
            }
        }

        /** Progress: all up to that revision was told. */
        record Bookmark(long revision) implements Told {}
    }

    private final Wish wish;
    private final List<Told> told;
    private long next;

    /** @param start as it is asked for at first; 0 for what comes after now */
    WatchRecord(Wish wish, long start) {
        this(wish, start, List.of());
    }

    private WatchRecord(Wish wish, long next, List<Told> told) {
        this.wish = wish;
        this.next = next;
        this.told = new ArrayList<>(told);
    }

    /** Of another watcher, which had the same wish and was told that. */
    WatchRecord withTold(List<Told> others) {
        return new WatchRecord(wish, next(), others);
    }

    Wish wish() {
        return wish;
    }

    /** Where it has to resume; 0 if it never began. */
    synchronized long next() {
        return next;
    }

    /** All so far. */
    synchronized List<Told> told() {
        return List.copyOf(told);
    }

    synchronized void begun(long from) {
        next = from;
        told.add(new Told.Begun(from));
    }

    synchronized void events(long header, List<Event> events) {
        Told.Events message = new Told.Events(header, events);
        next = message.last() + 1;
        told.add(message);
    }

    synchronized void bookmark(long revision) {
        next = Math.max(next, revision + 1);
        told.add(new Told.Bookmark(revision));
    }
}
