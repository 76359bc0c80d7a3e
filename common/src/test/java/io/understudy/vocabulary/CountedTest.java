package io.understudy.vocabulary;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class CountedTest {

    @Test
    void oneIsSingularAndAllElsePlural() {
        assertThat(Counted.of(1, "key")).isEqualTo("1 key");
        assertThat(Counted.of(0, "key")).isEqualTo("0 keys");
        assertThat(Counted.of(21, "key")).isEqualTo("21 keys");
        assertThat(Counted.of(1, "entry", "entries")).isEqualTo("1 entry");
        assertThat(Counted.of(2, "entry", "entries")).isEqualTo("2 entries");
    }
}
