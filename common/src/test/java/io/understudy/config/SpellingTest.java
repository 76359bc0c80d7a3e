package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class SpellingTest {

    @Test
    void theNearestWordIsOfferedUnlessItIsTooFarAway() {
        List<String> known = List.of("feed.stallTimeout", "feed.maxCommitBytes", "listen");

        assertThat(Spelling.nearest("feed.stalTimeut", known)).contains("feed.stallTimeout");
        assertThat(Spelling.nearest("lisen", known)).contains("listen");
        assertThat(Spelling.nearest("completelyDifferent", known)).isEmpty();
        assertThat(Spelling.nearest("x", List.of())).isEmpty();
    }

    @Test
    void distanceCountsInsertionsDeletionsAndReplacements() {
        assertThat(Spelling.distance("kitten", "sitting")).isEqualTo(3);
        assertThat(Spelling.distance("", "abc")).isEqualTo(3);
        assertThat(Spelling.distance("same", "same")).isZero();
    }
}
