package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.Revision;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests invariant M30. */
final class CurrencyTest {

    private static final Instant FIRST = Instant.ofEpochSecond(1);
    private static final Instant SECOND = Instant.ofEpochSecond(2);

    private final Currency currency = new Currency();

    @Test
    void isTheTimeOfTheLastCoveredQuery() {
        answered(FIRST, 10);
        answered(SECOND, 20);
        assertThat(coveredBy(9)).isNull();
        assertThat(coveredBy(19)).isEqualTo(FIRST);
        assertThat(coveredBy(20)).isEqualTo(SECOND);
    }

    @Test
    void isReportedOnce() {
        answered(FIRST, 10);
        assertThat(coveredBy(10)).isEqualTo(FIRST);
        assertThat(coveredBy(11)).isNull();
    }

    @Test
    void beginDropsQueriesOfThePreviousFeed() {
        answered(FIRST, 10);
        currency.begin(Revision.ZERO);
        assertThat(coveredBy(10)).isNull();
    }

    @Test
    void ignoresAnswersBelowTheRevisionGivenAtTheQuery() {
        currency.given(new Revision(500));
        answered(FIRST, 100);
        assertThat(currency.covered()).isNull();
        currency.begin(new Revision(500));
        answered(FIRST, 499);
        assertThat(currency.covered()).isNull();
        answered(SECOND, 500);
        assertThat(currency.covered()).isEqualTo(SECOND);
    }

    @Test
    void countsAnAnswerOvertakenByTheFeed() {
        Currency.RevisionQuery query = currency.query(FIRST);
        currency.given(new Revision(500));
        currency.answered(query, new Revision(100));
        assertThat(currency.covered()).isEqualTo(FIRST);
    }

    private void answered(Instant at, long revision) {
        currency.answered(currency.query(at), new Revision(revision));
    }

    private @Nullable Instant coveredBy(long revision) {
        currency.given(new Revision(revision));
        return currency.covered();
    }
}
