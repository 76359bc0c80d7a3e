package io.understudy.gateway;

import io.etcd.jetcd.api.Event;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;

/**
 * The deliveries to one watcher, in order, over all its streams: when one ends it resumes on another, at {@link #next}.
 * Thread-safe.
 */
final class WatchRecord {

    /** The events that the watcher requested. */
    record Selection(KeyRange range, boolean previous, boolean noPuts, boolean noDeletes) {
        boolean wants(Event event) {
            return range.contains(event.getKv().getKey())
                    && !(event.getType() == Event.EventType.DELETE ? noDeletes : noPuts);
        }
    }

    /** A response to it. */
    sealed interface Delivery {
        /** Created or resumed: every event from that revision on follows. */
        record Begun(long from) implements Delivery {}

        /** One message with events. */
        record Events(long header, List<Event> events) implements Delivery {
            long first() {
                return events.get(0).getKv().getModRevision();
            }

            long last() {
                return events.get(events.size() - 1).getKv().getModRevision();
            }
        }

        /** Progress: all events up to that revision were delivered. */
        record Bookmark(long revision) implements Delivery {}
    }

    private final Selection selection;
    private final List<Delivery> deliveries;
    private long next;

    /** @param start the first requested revision; 0 for what comes after now */
    WatchRecord(Selection selection, long start) {
        this(selection, start, List.of());
    }

    private WatchRecord(Selection selection, long next, List<Delivery> deliveries) {
        this.selection = selection;
        this.next = next;
        this.deliveries = new ArrayList<>(deliveries);
    }

    /** Returns a record of the same selection with other deliveries. */
    WatchRecord withDeliveries(List<Delivery> others) {
        return new WatchRecord(selection, next(), others);
    }

    Selection selection() {
        return selection;
    }

    /** Where it has to resume; 0 if it never began. */
    synchronized long next() {
        return next;
    }

    /** All so far. */
    synchronized List<Delivery> deliveries() {
        return List.copyOf(deliveries);
    }

    synchronized void begun(long from) {
        next = from;
        deliveries.add(new Delivery.Begun(from));
    }

    synchronized void events(long header, List<Event> events) {
        Delivery.Events message = new Delivery.Events(header, events);
        next = message.last() + 1;
        deliveries.add(message);
    }

    synchronized void bookmark(long revision) {
        next = Math.max(next, revision + 1);
        deliveries.add(new Delivery.Bookmark(revision));
    }
}
