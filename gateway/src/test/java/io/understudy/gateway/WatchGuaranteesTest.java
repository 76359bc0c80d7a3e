package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.gateway.WatchRecord.Delivery;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * The check of watch histories finds each kind of violation, and none where there is none.
 *
 * <p>Tests invariant V1.
 */
final class WatchGuaranteesTest {

    private static final WatchRecord.Selection ALL = new WatchRecord.Selection(KeyRange.all(), true, false, false);

    private static final KeyValue A2 = kv("a", "1", 2, 2, 1);
    private static final KeyValue A3 = kv("a", "2", 2, 3, 2);
    private static final KeyValue B3 = kv("b", "1", 3, 3, 1);
    private static final KeyValue B6 = kv("b", "2", 6, 6, 1);

    /** Revision 3 changes two keys, 5 deletes one, 7 is outside the watched keys. */
    private static final CommitTruth TRUTH = new CommitTruth(List.of(
            put(A2),
            put(A3),
            put(B3),
            put(kv("c", "1", 4, 4, 1)),
            delete("b", 5),
            put(B6),
            put(kv("d", "1", 8, 8, 1))));

    private static final Delivery BEGUN = new Delivery.Begun(2);
    private static final Delivery AT_2 = delivery(put(A2));
    private static final Delivery AT_3 = delivery(put(A3, A2), put(B3));
    private static final Delivery AT_4 = delivery(put(kv("c", "1", 4, 4, 1)));
    private static final Delivery AT_5 = delivery(delete("b", 5, B3));
    private static final Delivery AT_6 = delivery(put(B6));
    private static final Delivery AT_8 = delivery(put(kv("d", "1", 8, 8, 1)));
    private static final List<Delivery> GOOD = List.of(
            BEGUN,
            AT_2,
            AT_3,
            new Delivery.Bookmark(3),
            new Delivery.Begun(4),
            AT_4,
            AT_5,
            new Delivery.Begun(6),
            AT_6,
            new Delivery.Bookmark(7),
            AT_8);

    @Test
    void aFaithfulHistoryHasNoViolations() {
        assertThat(violations(ALL, GOOD)).isEmpty();
    }

    @Test
    void aFilteredHistoryHasNoViolations() {
        WatchRecord.Selection deletes = new WatchRecord.Selection(KeyRange.all(), false, true, false);
        assertThat(violations(deletes, List.of(BEGUN, new Delivery.Bookmark(4), delivery(delete("b", 5)))))
                .isEmpty();
    }

    @Test
    void aDroppedEventIsFound() {
        assertThat(tampered(deliveries -> deliveries.remove(AT_4)))
                .contains("reliable: 4/c is missing", "bookmarkable: 4/c was not told before progress at 7")
                .anyMatch(violation -> violation.startsWith("resumable"));
    }

    @Test
    void aDroppedLastEventIsFound() {
        assertThat(tampered(deliveries -> deliveries.remove(AT_8))).containsExactly("reliable: 8/d is missing");
    }

    @Test
    void aWatcherThatNeverStartedHasNoViolations() {
        assertThat(violations(ALL, List.of())).isEmpty();
    }

    @Test
    void aRepeatedEventIsFound() {
        assertThat(tampered(deliveries -> deliveries.add(6, AT_4))).contains("unique: 4/c was told twice");
    }

    @Test
    void anEventRepeatedAfterAResumeIsFound() {
        assertThat(tampered(deliveries -> deliveries.add(8, AT_5)))
                .contains("unique: 5/b was told twice", "resumable: from revision 6 with 5/b instead of 6/b");
    }

    @Test
    void eventsOutOfOrderAreFound() {
        assertThat(tampered(deliveries -> {
                    deliveries.set(5, AT_5);
                    deliveries.set(6, AT_4);
                }))
                .contains("ordered: 4/c after revision 5");
    }

    @Test
    void aCommitInTwoMessagesIsFound() {
        assertThat(tampered(deliveries -> {
                    deliveries.set(2, delivery(put(A3, A2)));
                    deliveries.add(3, delivery(put(B3)));
                }))
                .contains("atomic: revision 3 is in two messages", "atomic: 3/b is not in the message with its commit");
    }

    @Test
    void aCommitSplitByAResumeIsFound() {
        assertThat(tampered(deliveries -> {
                    deliveries.set(2, delivery(put(A3, A2)));
                    deliveries.remove(3);
                }))
                .contains("atomic: 3/b is not in the message with its commit", "reliable: 3/b is missing");
    }

    @Test
    void progressBeforeItsEventsIsFound() {
        assertThat(tampered(deliveries -> deliveries.add(5, new Delivery.Bookmark(4))))
                .contains(
                        "bookmarkable: revision 4 after progress at 4",
                        "bookmarkable: 4/c was not told before progress at 4");
    }

    @Test
    void progressThatGoesBackIsFound() {
        assertThat(tampered(deliveries -> deliveries.add(new Delivery.Bookmark(7))))
                .containsExactly("bookmarkable: progress at 7 after revision 8");
    }

    @Test
    void aWrongPreviousValueIsFound() {
        assertThat(tampered(deliveries -> deliveries.set(6, delivery(delete("b", 5, A3)))))
                .singleElement()
                .asString()
                .startsWith("previous: 5/b");
    }

    @Test
    void aMissingPreviousValueIsFound() {
        assertThat(tampered(deliveries -> deliveries.set(6, delivery(delete("b", 5)))))
                .singleElement()
                .asString()
                .startsWith("previous: 5/b");
    }

    @Test
    void anUnrequestedPreviousValueIsFound() {
        WatchRecord.Selection plain = new WatchRecord.Selection(KeyRange.all(), false, false, false);
        assertThat(violations(plain, GOOD)).hasSize(2).allMatch(violation -> violation.startsWith("previous"));
    }

    @Test
    void aFalseCreationIsFound() {
        assertThat(tampered(deliveries -> deliveries.set(2, delivery(put(kv("a", "2", 3, 3, 1), A2), put(B3)))))
                .contains("create: 3/a is told as a creation");
    }

    @Test
    void anotherValueIsFound() {
        assertThat(tampered(deliveries -> deliveries.set(9, delivery(put(kv("b", "other", 6, 6, 1))))))
                .anyMatch(violation -> violation.startsWith("real: "));
    }

    @Test
    void anInventedEventIsFound() {
        assertThat(tampered(deliveries -> deliveries.add(10, delivery(put(kv("b", "3", 6, 7, 2))))))
                .contains("real: 7/b never happened");
    }

    @Test
    void anUnrequestedEventIsFound() {
        WatchRecord.Selection onlyB =
                new WatchRecord.Selection(KeyRange.single(ByteString.copyFromUtf8("b")), true, false, false);
        assertThat(violations(onlyB, List.of(BEGUN, delivery(put(B3)), AT_4, AT_5, AT_6)))
                .contains("filter: 4/c was not asked for");
    }

    private static List<String> tampered(Consumer<List<Delivery>> how) {
        List<Delivery> deliveries = new ArrayList<>(GOOD);
        how.accept(deliveries);
        return violations(ALL, deliveries);
    }

    private static List<String> violations(WatchRecord.Selection selection, List<Delivery> deliveries) {
        return WatchGuarantees.violations(new WatchRecord(selection, 0).withDeliveries(deliveries), TRUTH);
    }

    private static Delivery delivery(Event... events) {
        List<Event> all = List.of(events);
        return new Delivery.Events(all.get(all.size() - 1).getKv().getModRevision(), all);
    }

    private static Event put(KeyValue kv) {
        return Event.newBuilder().setKv(kv).build();
    }

    private static Event put(KeyValue kv, KeyValue before) {
        return Event.newBuilder().setKv(kv).setPrevKv(before).build();
    }

    private static Event delete(String key, long revision) {
        return Event.newBuilder()
                .setType(Event.EventType.DELETE)
                .setKv(KeyValue.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setModRevision(revision))
                .build();
    }

    private static Event delete(String key, long revision, KeyValue before) {
        return delete(key, revision).toBuilder().setPrevKv(before).build();
    }

    private static KeyValue kv(String key, String value, long create, long mod, long version) {
        return KeyValue.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .setValue(ByteString.copyFromUtf8(value))
                .setCreateRevision(create)
                .setModRevision(mod)
                .setVersion(version)
                .build();
    }
}
