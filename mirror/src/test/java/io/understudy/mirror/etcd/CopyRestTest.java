package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.LaneProgress;
import io.understudy.mirror.etcd.SyncWriter.CopyRest;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * What lanes store covers all that is not copied, fits, and is read as it was written.
 *
 * <p>Tests invariant M41.
 */
final class CopyRestTest {

    private static final int PAGES = 60;
    private static final ClusterId SOURCE = new ClusterId(1);
    private static final Position PIN = new Position(
            SOURCE,
            new Revision(7),
            new Position.Anchor(new Revision(5), CommitDigest.parse("00".repeat(CommitDigest.SIZE_BYTES))));
    private static final LaneProgress LANE = LaneProgress.first(
            Checkpoint.first(SOURCE, MirrorScope.all(), "test/1", Instant.EPOCH), 0, "terms", null, 0);
    private static final int LARGEST = LANE.largest().encoded().size();

    @Property(tries = 100)
    void theStoredRestCoversAllUncopiedPages(@ForAll long seed) {
        Random random = new Random(seed);
        String padding = "k".repeat(random.nextInt(200));
        List<KeyRange> pages = IntStream.range(0, PAGES)
                .mapToObj(number -> page(padding, number))
                .toList();
        CopyRest rest = new CopyRest(PIN, List.of(KeyRange.all()));
        boolean[] copied = new boolean[PAGES];
        for (int i = 0; i < 2 * PAGES; i++) {
            int next = random.nextInt(PAGES);
            UnfinishedSnapshot after = rest.after(pages.get(next));
            rest.copied(pages.get(next));
            copied[next] = true;
            assertThat(after).isEqualTo(rest.after(null));
            assertThat(LaneProgress.fits(after.rest())).isTrue();
            ByteString stored = LANE.after(1, ByteString.EMPTY, after).encoded();
            assertThat(stored.size()).isLessThanOrEqualTo(LARGEST);
            assertThat(LaneProgress.decode(stored, SOURCE, "terms")).contains(after);
            assertThat(IntStream.range(0, PAGES).filter(page -> !copied[page]))
                    .allMatch(page -> after.rest().stream().anyMatch(range -> range.covers(pages.get(page))));
        }
        long last = IntStream.range(0, PAGES).filter(page -> copied[page]).count();
        if (padding.isEmpty() && last == PAGES) {
            assertThat(rest.after(null).rest()).isEmpty();
        }
    }

    @Test
    void progressUnderOtherTermsOrOfAnOlderBuildIsIgnored() {
        UnfinishedSnapshot snapshot = new UnfinishedSnapshot(PIN, List.of(KeyRange.all()));
        ByteString stored = LANE.after(1, ByteString.EMPTY, snapshot).encoded();
        assertThat(LaneProgress.decode(stored, SOURCE, "other terms")).isEmpty();
        assertThat(LaneProgress.decode(LANE.encoded(), SOURCE, "terms")).isEmpty();
        ByteString older = ByteString.copyFromUtf8(
                "{\"format\":1,\"epoch\":3,\"lane\":2,\"last\":\"2f\",\"count\":4200,\"path\":[\"1\"]}");
        assertThat(LaneProgress.decode(older, SOURCE, "terms")).isEmpty();
    }

    private static KeyRange page(String padding, int number) {
        return new KeyRange(
                number == 0 ? ByteString.EMPTY : key(padding, number),
                number == PAGES - 1 ? null : key(padding, number + 1));
    }

    private static ByteString key(String padding, int number) {
        return ByteString.copyFromUtf8(padding + String.format("%03d", number));
    }
}
