package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.RangeParts.Part;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests invariant F11. */
class RangePartsTest {

    private static final KeyRange WHOLE = new KeyRange(key(0), key(1_000));

    private RangeParts<Part<?, KeyRange>, KeyRange> parts = new RangeParts<>(List.of(WHOLE));

    @Test
    void theFirstIsTakenFirst_whicheverIsAnsweredFirst() {
        // given
        Part<Part<?, KeyRange>, KeyRange> first = request(key(300));
        Part<Part<?, KeyRange>, KeyRange> second = request(key(600));

        // when
        parts.answered(second, null, covered -> covered);

        // then
        assertThat(parts.take()).isNull();

        // when
        parts.answered(first, null, covered -> covered);

        // then
        assertThat(parts.take()).isEqualTo(new KeyRange(key(0), key(300)));
        assertThat(parts.take()).isEqualTo(new KeyRange(key(300), key(600)));
        assertThat(parts.isTaken()).isFalse();
    }

    @Test
    void theRestOfAnAnswerIsRequestedWithTheNextPart_unlessThatIsUnderWay() {
        // given
        Part<Part<?, KeyRange>, KeyRange> first = request(key(300));
        Part<Part<?, KeyRange>, KeyRange> second = request(key(600));

        // when
        parts.answered(first, key(200), covered -> covered);

        // then
        assertThat(nextToRequest()).isEqualTo(new KeyRange(key(200), key(300)));

        // when
        request(null);
        parts.answered(second, key(500), covered -> covered);

        // then
        assertThat(nextToRequest()).isEqualTo(new KeyRange(key(500), key(1_000)));
    }

    @Test
    void aRequestThatContinuesKeepsItsRest() {
        Part<Part<?, KeyRange>, KeyRange> first = request(key(300));
        Part<?, KeyRange> sent = parts.underWay().get(0);

        parts.continued(first, key(200), covered -> covered);

        assertThat(parts.take()).isEqualTo(new KeyRange(key(0), key(200)));
        assertThat(parts.of(sent).range()).isEqualTo(new KeyRange(key(200), key(300)));
        assertThat(nextToRequest()).isEqualTo(new KeyRange(key(300), key(1_000)));
    }

    @Test
    void aFailedPartIsRequestedAgain() {
        Part<Part<?, KeyRange>, KeyRange> first = request(key(300));
        request(key(600));

        parts.failed(first);

        assertThat(nextToRequest()).isEqualTo(new KeyRange(key(0), key(300)));
        assertThat(parts.underWay()).hasSize(1);
    }

    @Property(tries = 300)
    void partsAreTakenOnceAndInOrder(@ForAll long seed) {
        // given
        parts = new RangeParts<>(List.of(WHOLE));
        Random random = new Random(seed);
        List<KeyRange> taken = new ArrayList<>();

        // when
        for (int step = 0; step < 10_000 && !parts.isTaken(); step++) {
            List<Part<?, KeyRange>> underWay = parts.underWay();
            if (parts.nextToRequest() != null && random.nextInt(3) > 0) {
                request(
                        random.nextInt(4) == 0
                                ? null
                                : inside(parts.nextToRequest().range(), random));
            } else if (!underWay.isEmpty()) {
                @SuppressWarnings("unchecked") // Its own request.
                Part<Part<?, KeyRange>, KeyRange> part =
                        (Part<Part<?, KeyRange>, KeyRange>) underWay.get(random.nextInt(underWay.size()));
                switch (random.nextInt(3)) {
                    case 0 -> parts.failed(part);
                    case 1 -> parts.answered(part, inside(part.range(), random), covered -> covered);
                    default -> parts.answered(part, null, covered -> covered);
                }
            }
            KeyRange next = parts.take();
            if (next != null) {
                taken.add(next);
            }
        }

        // then
        assertThat(parts.isTaken()).isTrue();
        ByteString reached = WHOLE.from();
        for (KeyRange each : taken) {
            assertThat(each.from()).isEqualTo(reached);
            reached = each.to();
        }
        assertThat(reached).isEqualTo(WHOLE.to());
    }

    /** Requests the first part, up to there. */
    private Part<Part<?, KeyRange>, KeyRange> request(@Nullable ByteString end) {
        Part<Part<?, KeyRange>, KeyRange> rest = parts.nextToRequest();
        Part<Part<?, KeyRange>, KeyRange> part = end == null ? rest : parts.cut(rest, end);
        parts.requested(part, part);
        return part;
    }

    private KeyRange nextToRequest() {
        return parts.nextToRequest().range();
    }

    /** A key by which the range can be cut; null if there is none. */
    private static @Nullable ByteString inside(KeyRange range, Random random) {
        int from = Integer.parseInt(range.from().toStringUtf8());
        int to = Integer.parseInt(range.to().toStringUtf8());
        return to - from < 2 ? null : key(from + 1 + random.nextInt(to - from - 1));
    }

    private static ByteString key(int number) {
        return ByteString.copyFromUtf8("%04d".formatted(number));
    }
}
