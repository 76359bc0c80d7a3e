package io.understudy.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.ReplicaState.Condition;
import io.understudy.gateway.replica.ReplicaState.ReplicaListener;
import io.understudy.gateway.replica.SnapshotMerge.ReplicaDivergedException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A replica drops its state rather than exceed its memory limit or continue with a wrong one.
 *
 * <p>Tests invariants R1b, R5.
 */
final class ReplicaCeilingTest {

    private static final ClusterId CLUSTER = new ClusterId(1);
    private static final int CEILING = 1 << 20;
    private static final String LARGE = "x".repeat(100_000);

    private final List<String> events = new ArrayList<>();

    private final ReplicaListener listener = new ReplicaListener() {
        @Override
        public void published(ReplicaState state) {
            events.add("published " + state.revision());
        }

        @Override
        public void advanced(Revision revision) {
            events.add("advanced " + revision);
        }

        @Override
        public void dropped(Condition.Dropped why) {
            events.add("dropped");
        }
    };

    @Test
    void isDroppedBeforeItTakesMoreAndFollowsTheFeedWithoutAState() {
        Replica replica = replica(Duration.ofHours(1));
        load(replica, 1, 1);
        for (int revision = 2; revision <= 20; revision++) {
            put(replica, revision, LARGE);
        }
        replica.progress(position(30));
        assertThat(replica.state()).isNull();
        assertThat(replica.at(new Revision(20))).isNull();
        assertThat(replica.condition()).isInstanceOfSatisfying(Condition.Dropped.class, why -> assertThat(why.reason())
                .contains("replica.maxBytes")
                .contains(String.valueOf(CEILING)));
        assertThat(replica.revision()).isEqualTo(new Revision(30));
        assertThat(events).containsSubsequence("published 2", "dropped", "advanced 20", "advanced 30");
        assertThat(replica.heapBytes()).isEqualTo(replica.log().bytes()).isLessThanOrEqualTo(CEILING);
        assertThat(replica.log().head()).isEqualTo(30);
        assertThat(replica.isSnapshotDue()).isFalse();
    }

    @Test
    void isDroppedInTheMidstOfAFirstSnapshotThatDoesNotFit() {
        Replica replica = replica(Duration.ofHours(1));
        replica.snapshotStarted(CLUSTER, new Revision(50));
        ByteString from = ByteString.EMPTY;
        for (int i = 0; i < 20; i++) {
            ByteString to = i == 19 ? null : key(i + 1);
            replica.snapshotPage(new KeyRange(from, to), List.of(Keys.entry(key(i), LARGE, 5)));
            from = to;
        }
        assertThat(replica.revision()).isNull();
        replica.snapshotCompleted(position(50));
        put(replica, 51, "small");
        assertThat(events).containsExactly("dropped", "advanced 50", "advanced 51");
        assertThat(replica.state()).isNull();
        // Twenty values of 100,000 bytes.
        assertThat(replica.condition()).isInstanceOfSatisfying(Condition.Dropped.class, why -> assertThat(why.reason())
                .matches("snapshot needs about 20\\d{5} bytes; allowed: " + CEILING
                        + " bytes \\(replica.maxBytes\\); the default needs a heap of 33\\d{5}"));
    }

    @Test
    void theStateIsRebuiltAfterTheRetryIntervalOnceItFits() {
        Replica replica = replica(Duration.ZERO);
        load(replica, 1, 1);
        for (int revision = 2; revision <= 20; revision++) {
            put(replica, revision, LARGE);
        }
        assertThat(replica.isSnapshotDue()).isTrue();
        assertThat(replica.condition()).isInstanceOf(Condition.Dropped.class);
        load(replica, 25, 1);
        assertThat(replica.condition()).isInstanceOf(Condition.Ready.class);
        assertThat(replica.isSnapshotDue()).isFalse();
        assertThat(replica.state().revision()).isEqualTo(new Revision(25));
    }

    @Test
    void aStateReportedAsWrongIsDroppedAndRebuilt() {
        Replica replica = replica(Duration.ofHours(1));
        load(replica, 10, 1);
        replica.rebuild("it differs");
        assertThat(replica.state()).isNull();
        assertThat(replica.at(new Revision(10))).isNull();
        assertThat(replica.isSnapshotDue()).isTrue();
        assertThat(replica.condition()).isEqualTo(new Condition.Dropped("it differs"));
        assertThat(replica.isSnapshotDue()).isFalse();
        assertThatExceptionOfType(ReplicaDivergedException.class)
                .isThrownBy(() -> replica.snapshotStarted(CLUSTER, new Revision(9)));
        load(replica, 11, 1);
        assertThat(replica.condition()).isEqualTo(new Condition.Ready());
    }

    @Test
    void theLogContinuesWithoutAStateAndDropsTheOldOne() {
        Replica replica = replica(Duration.ofHours(1));
        load(replica, 1, 1);
        put(replica, 2, "before");
        replica.rebuild("it differs");
        assertThat(replica.isSnapshotDue()).isTrue();
        put(replica, 3, "after");
        assertThat(replica.log().from()).isEqualTo(1);
        assertThat(replica.log().head()).isEqualTo(3);
        assertThat(replica.log().after(1).previous()).isNull();
        assertThat(replica.log().after(2).previous()).isNull();
        load(replica, 3, 1);
        put(replica, 4, "again");
        assertThat(replica.log().from()).isEqualTo(3);
        assertThat(replica.log().after(3).previous()).isNotNull();
    }

    @Test
    void aSnapshotTooLargeBesideTheStateIsReadAgainAtOnce() {
        Replica replica = replica(Duration.ofHours(1));
        load(replica, 1, 1);
        tooLarge(replica);
        assertThat(replica.isSnapshotDue()).isTrue();
        tooLarge(replica);
        assertThat(replica.isSnapshotDue()).isFalse();
    }

    /** Else none would ever be complete if its source takes longer than the interval. */
    @Test
    void theRetryIntervalStartsWhenTheSnapshotThatDoesNotFitIsComplete() {
        Replica replica = replica(Duration.ZERO);
        replica.snapshotStarted(CLUSTER, new Revision(50));
        for (int i = 0; i < 20; i++) {
            replica.snapshotPage(
                    new KeyRange(i == 0 ? ByteString.EMPTY : key(i), i == 19 ? null : key(i + 1)),
                    List.of(Keys.entry(key(i), LARGE, 5)));
            assertThat(replica.isSnapshotDue()).isFalse();
        }
        assertThat(replica.condition()).isInstanceOf(Condition.Dropped.class);
        replica.snapshotCompleted(position(50));
        assertThat(replica.isSnapshotDue()).isTrue();
    }

    private static void tooLarge(Replica replica) {
        replica.snapshotStarted(CLUSTER, new Revision(50));
        ByteString from = ByteString.EMPTY;
        for (int i = 0; i < 20; i++) {
            ByteString to = i == 19 ? null : key(i + 1);
            replica.snapshotPage(new KeyRange(from, to), List.of(Keys.entry(key(i), LARGE, 5)));
            from = to;
        }
        replica.snapshotCompleted(position(50));
    }

    @Test
    void pastStatesAreDroppedBeforeTheLatest() {
        Replica replica = replica(Duration.ofHours(1));
        load(replica, 1, 1);
        for (int revision = 2; revision <= 1_000; revision++) {
            put(replica, 2 + 100 * revision, LARGE);
        }
        assertThat(events).doesNotContain("dropped");
        assertThat(replica.heapBytes()).isLessThanOrEqualTo(CEILING);
        assertThat(replica.log().size()).isLessThan(10);
    }

    @Test
    void theWindowDropsTheOldestStatesToStayWithinItsBytes() {
        ReplicaSettings settings = new ReplicaSettings(1_000_000, 1 << 20, 1L << 30, Duration.ofHours(1));
        Replica replica = new Replica(KeyRange.all(), settings, listener);
        load(replica, 1, 100);
        for (int revision = 2; revision <= 2_000; revision++) {
            put(replica, revision, "x".repeat(10_000));
        }
        assertThat(replica.log().bytes()).isLessThanOrEqualTo(1 << 20);
        assertThat(replica.log().size()).isBetween(70, 110);
        assertThat(replica.at(new Revision(1_990)).revision().value()).isEqualTo(1_990);
        assertThat(replica.at(new Revision(1_800))).isNull();
    }

    private Replica replica(Duration retryInterval) {
        return new Replica(KeyRange.all(), new ReplicaSettings(1_000, 16L << 20, CEILING, retryInterval), listener);
    }

    private static void load(Replica replica, long revision, int keys) {
        List<KeyValue> entries = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            entries.add(Keys.entry(key(i), "small", 1));
        }
        replica.snapshotStarted(CLUSTER, new Revision(revision));
        replica.snapshotPage(KeyRange.all(), entries);
        replica.snapshotCompleted(position(revision));
    }

    private static void put(Replica replica, long revision, String value) {
        replica.commit(
                SourceModel.commit(
                        revision, List.of(new Change.Put(Keys.entry(key((int) revision % 100), value, revision)))),
                position(revision));
    }

    private static ByteString key(int number) {
        return Keys.key(String.format("key-%03d", number));
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }
}
