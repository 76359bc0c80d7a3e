package io.understudy.feed.etcd;

import static io.understudy.feed.SourceClient.bytes;
import static io.understudy.feed.etcd.FeedFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.understudy.etcd.Health;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Commits of the past, as they are read of a cluster.
 *
 * <p>Tests invariant F6.
 */
@Timeout(120)
class EtcdHistoryIT {

    @RegisterExtension
    static final EtcdExtension source =
            EtcdExtension.voters(3).learners(1).named("source").behindProxies();

    private FeedFixture fixture;

    @BeforeEach
    void open() {
        fixture = new FeedFixture(source.cluster());
        // While the followers are unknown or unhealthy, the leader is watched.
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(fixture.source().view().members())
                        .hasSize(4)
                        .allMatch(member -> member.health() == Health.HEALTHY));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void commitsAreWholeAndInOrderWithPreviousValues() throws Exception {
        fixture.client().put("whole/a", "before");
        Revision both = fixture.client().putAll(List.of(bytes("whole/a"), bytes("whole/b")), bytes("both"), 0);
        Revision gone = fixture.client().delete(KeyRange.single(bytes("whole/b")));
        Revision elsewhere = fixture.client().put("elsewhere", "value");

        try (EtcdHistory history = history("whole/", both, true)) {
            EtcdHistory.Step.Committed first = (EtcdHistory.Step.Committed) next(history);
            EtcdHistory.Step.Committed second = (EtcdHistory.Step.Committed) next(history);
            EtcdHistory.Step.Complete complete = (EtcdHistory.Step.Complete) next(history);

            assertThat(first.commit().revision()).isEqualTo(both);
            assertThat(first.commit().changes())
                    .extracting(Change::key)
                    .containsExactly(bytes("whole/a"), bytes("whole/b"));
            assertThat(first.previous()).extracting(KeyValue::value).containsExactly(bytes("before"));
            assertThat(second.commit().revision()).isEqualTo(gone);
            assertThat(second.previous()).extracting(KeyValue::value).containsExactly(bytes("both"));
            assertThat(complete.revision()).isGreaterThanOrEqualTo(elsewhere);
            assertThat(MemberMetrics.watchers(source.cluster().leader())).isZero();
        }
    }

    @Test
    void losingTheMemberThatServesMissesAndRepeatsNothing() throws Exception {
        List<Revision> written = new ArrayList<>();
        write(written, 50);
        List<Revision> read = new ArrayList<>();
        try (EtcdHistory history = history("lost/", written.get(0), false)) {
            readTo(history, written.get(49), read);
            for (EtcdMember voter : source.cluster().voters()) {
                if (MemberMetrics.watchers(voter) > 0) {
                    voter.clientProxy().cut();
                }
            }
            write(written, 50);
            readTo(history, written.get(99), read);
        }
        assertThat(read).isEqualTo(written);
    }

    @Test
    void compactedCommitsAreAGapUpToTheCompactRevision() throws Exception {
        Revision lost = fixture.client().put("gap/key", "lost");
        Revision compacted = fixture.client().put("gap/key", "kept");
        fixture.compact(compacted);

        try (EtcdHistory history = history("gap/", lost, false)) {
            assertThatExceptionOfType(Gap.class)
                    .isThrownBy(() -> next(history))
                    .satisfies(gap -> assertThat(gap.compacted()).isEqualTo(compacted));
        }
        try (EtcdHistory history = history("gap/", compacted, true)) {
            EtcdHistory.Step.Committed first = (EtcdHistory.Step.Committed) next(history);
            assertThat(first.commit().revision()).isEqualTo(compacted);
            assertThat(first.previous()).isEmpty();
        }
    }

    @Test
    void compactionOfDeliveredCommitsIsNoGap() throws Exception {
        Revision first = fixture.client().put("told/key", "first");
        try (EtcdHistory history = history("told/", first, false)) {
            assertThat(next(history)).isInstanceOf(EtcdHistory.Step.Committed.class);
            source.cluster().members().forEach(member -> member.clientProxy().cut());
            Revision second = fixture.client().put("told/key", "second");
            fixture.compact(second);
            source.cluster().members().forEach(member -> member.clientProxy().heal());

            List<Revision> read = new ArrayList<>();
            readTo(history, second, read);
            assertThat(read).containsExactly(second);
        }
    }

    @Test
    void theOldestRevisionThatCanBeReadIsTheCompactRevision() throws Exception {
        Revision lost = fixture.client().put("oldest/key", "lost");
        Revision compacted = fixture.client().put("oldest/key", "kept");
        Revision later = new Revision(compacted.value() + 1_000);
        fixture.compact(compacted);
        KeyRange range = KeyRange.prefix(bytes("oldest/"));

        // A member that has not applied the compaction yet still reads older ones.
        await().atMost(PATIENCE).until(() -> compacted.equals(feeds().oldest(range, lost)));
        assertThat(feeds().oldest(range, compacted)).isEqualTo(compacted);
        assertThat(feeds().oldest(range, later)).isEqualTo(later);
    }

    private void write(List<Revision> written, int times) {
        for (int i = 0; i < times; i++) {
            written.add(fixture.client().put("lost/key", "value " + i));
        }
    }

    private EtcdHistory history(String prefix, Revision from, boolean previous) {
        return feeds().history(KeyRange.prefix(bytes(prefix)), from, previous);
    }

    private EtcdFeedSource feeds() {
        return new EtcdFeedSource("history", fixture.source(), EtcdFeedOptions.DEFAULTS, fixture.meters());
    }

    private static EtcdHistory.Step next(EtcdHistory history) throws Exception {
        EtcdHistory.Step step = history.next(PATIENCE);
        assertThat(step).as("a step in time").isNotNull();
        return step;
    }

    private static void readTo(EtcdHistory history, Revision last, List<Revision> read) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (read.isEmpty() || read.get(read.size() - 1).isBefore(last)) {
            assertThat(System.nanoTime()).as("told in time up to " + last).isLessThan(deadline);
            if (history.next(Duration.ofMillis(100)) instanceof EtcdHistory.Step.Committed committed) {
                read.add(committed.commit().revision());
            }
        }
    }
}
