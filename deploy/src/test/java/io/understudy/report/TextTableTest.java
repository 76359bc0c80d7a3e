package io.understudy.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class TextTableTest {

    @Test
    void columnsFitTheirWidestCellAndNumbersAreRightAligned() {
        TextTable table = new TextTable("part", "ms").row("gateway", "7.5").row("dr", "112.0");

        assertThat(table.lines()).containsExactly("part         ms", "gateway     7.5", "dr        112.0");
    }

    @Test
    void aRowOfAnotherWidthIsRefused() {
        assertThatThrownBy(() -> new TextTable("a", "b").row("x")).isInstanceOf(IllegalArgumentException.class);
    }
}
