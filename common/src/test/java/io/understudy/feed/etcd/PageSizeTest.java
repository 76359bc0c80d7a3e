package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.feed.etcd.PageChain.PageSize;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Tests invariant F10. */
class PageSizeTest {

    private static final long TARGET_BYTES = 2L << 20;
    private static final long ANY = Long.MAX_VALUE;

    @Test
    void beginsWithSixteenKeys() {
        assertThat(PageSize.FIRST.keys()).isEqualTo(16);
    }

    @Test
    void smallValuesLetItGrowEightfoldAtATime() {
        assertThat(PageSize.FIRST.after(16, 16 * 100, TARGET_BYTES, ANY).keys()).isEqualTo(128);
    }

    @Test
    void aSlowLinkLimitsItsGrowth() {
        assertThat(PageSize.FIRST.after(16, 16 * 100, TARGET_BYTES, 3).keys()).isEqualTo(48);
        assertThat(PageSize.FIRST.after(16, 16 * 100, TARGET_BYTES, 0).keys()).isEqualTo(16);
    }

    @Test
    void largeValuesShrinkItToWhatFitsTheTarget() {
        assertThat(new PageSize(1_000)
                        .after(1_000, 1_000 * 100_000L, TARGET_BYTES, ANY)
                        .keys())
                .isEqualTo(20);
    }

    @Test
    void anAnswerTooLargeHalvesIt() {
        assertThat(new PageSize(100).halved().keys()).isEqualTo(50);
        assertThat(new PageSize(1).halved().keys()).isEqualTo(1);
    }

    @Property
    void staysWithinItsBounds(
            @ForAll @IntRange(min = 1, max = 10_000) int keys,
            @ForAll @IntRange(max = 10_000) int pageKeys,
            @ForAll @LongRange(max = 1L << 40) long pageBytes) {
        PageSize next = new PageSize(keys).after(pageKeys, pageBytes, TARGET_BYTES, ANY);

        assertThat(next.keys()).isBetween(1, Math.min(10_000, keys * 8));
    }
}
