package io.understudy.gateway;

import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.gateway.CommitTruth.Happened;
import io.understudy.gateway.WatchRecord.Told;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What etcd guarantees to a watcher (its documentation, "API guarantees", and tests/robustness/validate/watch.go), checked
 * on what one was told, beside what happened. Each violation begins with the guarantee's name.
 */
final class WatchGuarantees {

    private final WatchRecord.Wish wish;
    private final List<Told> told;
    private final CommitTruth truth;
    private final List<String> violations = new ArrayList<>();

    private WatchGuarantees(WatchRecord record, CommitTruth truth) {
        this.wish = record.wish();
        this.told = record.told();
        this.truth = truth;
    }

    /** What the watcher was told wrongly up to the truth's head, or not at all. */
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

    /** A commit is in one message, with all of it that was wanted; nor is the rest of it told after a break. */
    private void atomic() {
        long last = 0;
        for (Told one : told) {
            if (one instanceof Told.Events message) {
                if (message.first() == last) {
                    broken("atomic", "revision " + last + " is in two messages");
                }
                Set<String> names = names(message.events());
                for (long revision : revisions(message.events())) {
                    for (Happened wanted : truth.wanted(wish, revision, revision)) {
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

    /** From where it began up to the end, nothing is missing. */
    private void reliable() {
        Set<String> names = names(events());
        for (Happened wanted : truth.wanted(wish, begin(), truth.head())) {
            if (!names.contains(name(wanted.event()))) {
                broken("reliable", wanted + " is missing");
            }
        }
    }

    /** After each beginning comes what happened first from there on, and nothing from before. */
    private void resumable() {
        for (int i = 0; i < told.size(); i++) {
            if (told.get(i) instanceof Told.Begun begun) {
                Told.Events next = nextMessage(i);
                Happened wanted = truth.first(wish, begun.from());
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
        for (Told one : told) {
            if (one instanceof Told.Events message) {
                if (message.first() <= bookmark) {
                    broken("bookmarkable", "revision " + message.first() + " after progress at " + bookmark);
                }
                before.addAll(names(message.events()));
                last = message.last();
            } else if (one instanceof Told.Bookmark mark) {
                if (mark.revision() < Math.max(bookmark, last)) {
                    broken(
                            "bookmarkable",
                            "progress at " + mark.revision() + " after revision " + Math.max(bookmark, last));
                }
                bookmark = Math.max(bookmark, mark.revision());
                for (Happened wanted : truth.wanted(wish, checked + 1, bookmark)) {
                    if (!before.contains(name(wanted.event()))) {
                        broken("bookmarkable", wanted + " was not told before progress at " + bookmark);
                    }
                }
                checked = Math.max(checked, bookmark);
            }
        }
    }

    /** Events are those that happened, as they happened, and such as were asked for. */
    private void content() {
        for (Event event : events()) {
            Happened happened = truth.of(event);
            if (!wish.wants(event)) {
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
            KeyValue before = wish.previous() ? happened.before() : null;
            if (before == null ? event.hasPrevKv() : !event.getPrevKv().equals(before)) {
                broken("previous", name(event) + " was told with " + event.getPrevKv() + ", not " + before);
            }
        }
    }

    private void broken(String guarantee, String how) {
        violations.add(guarantee + ": " + how);
    }

    /** The first revision that it was promised; beyond the end if it never began. */
    private long begin() {
        for (Told one : told) {
            if (one instanceof Told.Begun begun) {
                return begun.from();
            }
        }
        return truth.head() + 1;
    }

    private List<Event> events() {
        List<Event> events = new ArrayList<>();
        for (Told one : told) {
            if (one instanceof Told.Events message) {
                events.addAll(message.events());
            }
        }
        return events;
    }

    private Told.@Nullable Events nextMessage(int after) {
        for (int i = after + 1; i < told.size(); i++) {
            if (told.get(i) instanceof Told.Events message) {
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
