package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.Revision;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class CurrencyTest {

    private static final Instant FIRST = Instant.ofEpochSecond(1);
    private static final Instant SECOND = Instant.ofEpochSecond(2);

    private final Currency currency = new Currency();

    @Test
    void isTheTimeOfTheLastQuestionWhoseAnswerWasGiven() {
        currency.answered(FIRST, new Revision(10));
        currency.answered(SECOND, new Revision(20));
        assertThat(currency.coveredBy(new Revision(9))).isNull();
        assertThat(currency.coveredBy(new Revision(19))).isEqualTo(FIRST);
        assertThat(currency.coveredBy(new Revision(20))).isEqualTo(SECOND);
    }

    @Test
    void isToldOnce() {
        currency.answered(FIRST, new Revision(10));
        assertThat(currency.coveredBy(new Revision(10))).isEqualTo(FIRST);
        assertThat(currency.coveredBy(new Revision(11))).isNull();
    }

    @Test
    void forgetsWhatAnotherFeedWasAskedFor() {
        currency.answered(FIRST, new Revision(10));
        currency.forget();
        assertThat(currency.coveredBy(new Revision(10))).isNull();
    }
}
