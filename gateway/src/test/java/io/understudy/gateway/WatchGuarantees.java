package io.understudy.gateway;

import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.gateway.CommitTruth.Happened;
import io.understudy.gateway.WatchRecord.Delivery;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks a watcher's deliveries against the guarantees of etcd (its documentation, "API guarantees", and
 * tests/robustness/validate/watch.go) and the actual commits. Each violation begins with the guarantee's name.
 */
final class WatchGuarantees {

    private final WatchRecord.Selection selection;
    private final List<Delivery> deliveries;
    private final CommitTruth truth;
    private final List<String> violations = new ArrayList<>();

    private WatchGuarantees(WatchRecord record, CommitTruth truth) {
        this.selection = record.selection();
        this.deliveries = record.deliveries();
        this.truth = truth;
    }

    /** Returns the violations up to the truth's head. */
    static List<String> violations(WatchRecord record, CommitTruth truth) {
        WatchGuarantees check = new WatchGuarantees(record, truth);
        check.orderedAndUnique();
        check.atomic();
        check.reliable();
        check.resumable();
        check.bookmarkable();
        check.content();
        return check.violations;
    }

    private void orderedAndUnique() {
        Set<String> seen = new HashSet<>();
        long last = 0;
        for (Event event : events()) {
            long revision = event.getKv().getModRevision();
            if (revision < last) {
                broken("ordered", name(event) + " after revision " + last);
            }
            if (!seen.add(name(event))) {
                broken("unique", name(event) + " was told twice");
            }
            last = Math.max(last, revision);
        }
    }

    /** A commit is in one message, with all matching events; its rest does not follow after a break. */
    private void atomic() {
        long last = 0;
        for (Delivery one : deliveries) {
            if (one instanceof Delivery.Events message) {
                if (message.first() == last) {
                    broken("atomic", "revision " + last + " is in two messages");
                }
                Set<String> names = names(message.events());
                for (long revision : revisions(message.events())) {
                    for (Happened wanted : truth.wanted(selection, revision, revision)) {
                        if (!names.contains(name(wanted.event()))) {
                            broken("atomic", wanted + " is not in the message with its commit");
                        }
                    }
                }
                last = message.last();
                if (message.header() < last) {
                    broken("ordered", "a header tells revision " + message.header() + ", an event " + last);
                }
            }
        }
    }

    /** Nothing is missing between the start and the end. */
    private void reliable() {
        Set<String> names = names(events());
        for (Happened wanted : truth.wanted(selection, begin(), truth.head())) {
            if (!names.contains(name(wanted.event()))) {
                broken("reliable", wanted + " is missing");
            }
        }
    }

    /** Each resume is followed by the first commit from there on, and by no earlier one. */
    private void resumable() {
        for (int i = 0; i < deliveries.size(); i++) {
            if (deliveries.get(i) instanceof Delivery.Begun begun) {
                Delivery.Events next = nextMessage(i);
                Happened wanted = truth.first(selection, begun.from());
                if (next != null
                        && wanted != null
                        && !name(next.events().get(0)).equals(name(wanted.event()))) {
                    broken(
                            "resumable",
                            "from revision " + begun.from() + " with "
                                    + name(next.events().get(0)) + " instead of " + wanted);
                }
            }
        }
    }

    private void bookmarkable() {
        long bookmark = 0;
        long last = 0;
        long checked = begin() - 1;
        Set<String> before = new HashSet<>();
        for (Delivery one : deliveries) {
            if (one instanceof Delivery.Events message) {
                if (message.first() <= bookmark) {
                    broken("bookmarkable", "revision " + message.first() + " after progress at " + bookmark);
                }
                before.addAll(names(message.events()));
                last = message.last();
            } else if (one instanceof Delivery.Bookmark mark) {
                if (mark.revision() < Math.max(bookmark, last)) {
                    broken(
                            "bookmarkable",
                            "progress at " + mark.revision() + " after revision " + Math.max(bookmark, last));
                }
                bookmark = Math.max(bookmark, mark.revision());
                for (Happened wanted : truth.wanted(selection, checked + 1, bookmark)) {
                    if (!before.contains(name(wanted.event()))) {
                        broken("bookmarkable", wanted + " was not told before progress at " + bookmark);
                    }
                }
                checked = Math.max(checked, bookmark);
            }
        }
    }

    /** Events are real, unchanged and requested. */
    private void content() {
        for (Event event : events()) {
            Happened happened = truth.of(event);
            if (!selection.wants(event)) {
                broken("filter", name(event) + " was not asked for");
            }
            if (happened == null) {
                if (event.getKv().getModRevision() <= truth.head()) {
                    broken("real", name(event) + " never happened");
                }
                continue;
            }
            boolean isCreate = event.getType() == Event.EventType.PUT
                    && event.getKv().getCreateRevision() == event.getKv().getModRevision();
            if (event.getType() == Event.EventType.PUT && isCreate != (happened.before() == null)) {
                broken("create", name(event) + (isCreate ? " is told as a creation" : " is not told as a creation"));
            }
            if (!event.getKv().equals(happened.event().getKv())
                    || event.getType() != happened.event().getType()) {
                broken("real", name(event) + " was " + happened.event() + " and is told as " + event);
            }
            KeyValue before = selection.previous() ? happened.before() : null;
            if (before == null ? event.hasPrevKv() : !event.getPrevKv().equals(before)) {
                broken("previous", name(event) + " was told with " + event.getPrevKv() + ", not " + before);
            }
        }
    }

    private void broken(String guarantee, String how) {
        violations.add(guarantee + ": " + how);
    }

    /** The first guaranteed revision; beyond the end if the watcher never began. */
    private long begin() {
        for (Delivery one : deliveries) {
            if (one instanceof Delivery.Begun begun) {
                return begun.from();
            }
        }
        return truth.head() + 1;
    }

    private List<Event> events() {
        List<Event> events = new ArrayList<>();
        for (Delivery one : deliveries) {
            if (one instanceof Delivery.Events message) {
                events.addAll(message.events());
            }
        }
        return events;
    }

    private Delivery.@Nullable Events nextMessage(int after) {
        for (int i = after + 1; i < deliveries.size(); i++) {
            if (deliveries.get(i) instanceof Delivery.Events message) {
                return message;
            }
        }
        return null;
    }

    private static Set<Long> revisions(List<Event> events) {
        Set<Long> revisions = new HashSet<>();
        events.forEach(event -> revisions.add(event.getKv().getModRevision()));
        return revisions;
    }

    private static Set<String> names(List<Event> events) {
        Set<String> names = new HashSet<>();
        events.forEach(event -> names.add(name(event)));
        return names;
    }

    private static String name(Event event) {
        return event.getKv().getModRevision() + "/" + event.getKv().getKey().toStringUtf8();
    }
}
