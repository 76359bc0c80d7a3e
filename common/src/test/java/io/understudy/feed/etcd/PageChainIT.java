package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Pages are read ahead of their reader, and not further than memory allows.
 *
 * <p>Tests invariant F11.
 */
@Timeout(180)
class PageChainIT {

    @RegisterExtension
    static final EtcdExtension source = EtcdExtension.voters(1).named("pages");

    private static final int PAGE_BYTES = 64 << 10;
    private static final EtcdFeedOptions OPTIONS = EtcdFeedOptions.DEFAULTS.withPageBytes(PAGE_BYTES);

    private FeedFixture fixture;

    @BeforeEach
    void open() {
        fixture = new FeedFixture(source.cluster());
        await().atMost(FeedFixture.PATIENCE).until(() -> fixture.source().view().clusterId() != null);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void allComeBeforeAnyIsTaken_whereTheyAreFew() throws Exception {
        fixture.client().fill("few/", 300, bytes("value"), 0);

        try (PageChain pages = chain("few/")) {
            pages.advance();
            await().atMost(FeedFixture.PATIENCE).until(pages::isRead);

            assertThat(pages.isTaken()).isFalse();
            assertThat(taken(pages, "few/")).isEqualTo(300);
            assertThat(pages.isTaken()).isTrue();
        }
    }

    @Test
    void noMoreComeThanMemoryAllows_whereTheyAreMany() throws Exception {
        fixture.client().fill("many/", 2_000, ByteString.copyFrom(new byte[1_000]), 0);
        try (PageChain pages = chain("many/")) {
            long before = ranges();
            pages.advance();

            // The small one of the beginning, and two of the bytes aimed at.
            await().atMost(FeedFixture.PATIENCE).until(() -> ranges() - before == 3);
            await().during(Duration.ofMillis(500))
                    .atMost(FeedFixture.PATIENCE)
                    .until(() -> ranges() - before == 3 && !pages.isRead());
            assertThat(taken(pages, "many/")).isEqualTo(2_000);
        }
    }

    /** Where one ends is a guess: of these keys too near, and too far. */
    @Test
    void adjoinWhereverTheyWereGuessedToEnd() throws Exception {
        for (String group : List.of("a", "b1", "b2", "m/n", "z")) {
            fixture.client().fill("uneven/" + group, 700, ByteString.copyFrom(new byte[400]), 0);
        }

        try (PageChain pages = chain("uneven/")) {
            assertThat(taken(pages, "uneven/")).isEqualTo(5 * 700);
        }
    }

    /** Where keys grow denser two guesses take in too many: what waits is more than may wait, and lacks its middle. */
    @Test
    void aSlowReaderReceivesAllPages_whenGuessesAreTooFar() throws Exception {
        ByteString value = ByteString.copyFrom(new byte[400]);
        for (int i = 0; i < 700; i++) {
            fixture.client().put(bytes("denser/%08d".formatted(9_993_000 + 10 * i)), value, 0);
        }
        fixture.client().fill("denser/1", 6_000, value, 0);

        try (PageChain pages = chain("denser/")) {
            int keys = 0;
            while (!pages.isTaken()) {
                awaitQuiet();
                keys += keys(pages.take(FeedFixture.PATIENCE));
            }
            assertThat(keys).isEqualTo(6_700);
        }
    }

    /** Until no page is under way. */
    private static void awaitQuiet() {
        AtomicLong last = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(50)).atMost(FeedFixture.PATIENCE).until(() -> {
            long now = ranges();
            return last.getAndSet(now) == now;
        });
    }

    private static int keys(PageChain.Outcome outcome) {
        assertThat(outcome).isInstanceOf(PageChain.Outcome.Answer.class);
        return ((PageChain.Outcome.Answer) outcome).response().getKvsCount();
    }

    @Test
    void whatWaitedIsNotTakenForRead_onceClosed() throws Exception {
        fixture.client().fill("closed/", 300, bytes("value"), 0);
        PageChain pages = chain("closed/");
        pages.advance();
        await().atMost(FeedFixture.PATIENCE).until(pages::isRead);

        pages.close();

        assertThat(pages.isTaken()).isFalse();
        assertThatThrownBy(() -> pages.take(FeedFixture.PATIENCE)).isInstanceOf(CancellationException.class);
    }

    @Test
    void closingCancelsAWaitingReader() throws Exception {
        PageChain pages = chain("waiting/");
        source.cluster().leader().pause();
        CompletableFuture<Throwable> failure =
                CompletableFuture.supplyAsync(() -> catchThrowable(() -> pages.take(FeedFixture.PATIENCE)));
        await().during(Duration.ofMillis(100)).until(() -> !failure.isDone());

        pages.close();

        assertThat(failure).succeedsWithin(FeedFixture.PATIENCE).isInstanceOf(CancellationException.class);
    }

    private PageChain chain(String prefix) {
        ClusterId cluster = fixture.source().view().clusterId();
        Revision present = fixture.client().revision();
        return new PageChain(fixture.source(), cluster, List.of(KeyRange.prefix(bytes(prefix))), present, OPTIONS);
    }

    private static long ranges() throws IOException, InterruptedException {
        return MemberMetrics.ranges(source.cluster().voters());
    }

    /** Takes all pages, which have to adjoin. Returns how many keys they had. */
    private static int taken(PageChain pages, String prefix) throws InterruptedException {
        KeyRange range = KeyRange.prefix(bytes(prefix));
        List<KeyRange> covered = new ArrayList<>();
        int keys = 0;
        while (!pages.isTaken()) {
            PageChain.Outcome outcome = pages.take(FeedFixture.PATIENCE);
            assertThat(outcome).isInstanceOf(PageChain.Outcome.Answer.class);
            PageChain.Outcome.Answer answer = (PageChain.Outcome.Answer) outcome;
            assertThat(answer.covered().from())
                    .isEqualTo(
                            covered.isEmpty()
                                    ? range.from()
                                    : covered.get(covered.size() - 1).to());
            covered.add(answer.covered());
            keys += answer.response().getKvsCount();
        }
        assertThat(covered.get(covered.size() - 1).to()).isEqualTo(range.to());
        return keys;
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
