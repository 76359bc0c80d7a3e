package io.understudy.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class TextTableTest {

    @Test
    void columnsFitTheirWidestCellAndNumbersAreRightAligned() {
        TextTable table = new TextTable("part", "ms").row("gateway", "7.5").row("dr", "112.0");

        assertThat(table.lines()).containsExactly("part         ms", "gateway     7.5", "dr        112.0");
    }

    @Test
    void aLongCellContinuesOnTheNextLine() {
        String url = "https://gateway-eu-west-1a.understudy.example.com:2379";
        TextTable table = new TextTable("PART", "SERVES", "ADDRESS", "PID")
                .row("gateway-1", "etcd v3 API, metrics and health", url, "4711")
                .row("gateway-2", "etcd v3 API", url + "," + url, "42");

        assertThat(table.lines()).containsExactly("""
                PART        SERVES                            ADDRESS                                            PID
                gateway-1   etcd v3 API, metrics and health   https://gateway-eu-west-1a.understudy.example.c   4711
                                                              om:2379
                gateway-2   etcd v3 API                       https://gateway-eu-west-1a.understudy.example.c     42
                                                              om:2379,
                                                              https://gateway-eu-west-1a.understudy.example.c
                                                              om:2379""".split("\n"));
    }

    @Test
    void aLineHasAtMost100Characters() {
        String text = "2 voters of 3; core-member-eu-west-1a is 0 entries behind, " + "x".repeat(150);
        String[] cells = Stream.generate(() -> text).limit(25).toArray(String[]::new);

        assertThat(new TextTable(cells).row(cells).lines()).allMatch(line -> line.length() <= TextTable.WIDTH);
    }

    @Test
    void aRowOfAnotherWidthIsRefused() {
        assertThatThrownBy(() -> new TextTable("a", "b").row("x")).isInstanceOf(IllegalArgumentException.class);
    }
}
