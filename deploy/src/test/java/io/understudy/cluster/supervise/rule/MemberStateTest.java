package io.understudy.cluster.supervise.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class MemberStateTest {

    @Test
    void theDocumentedTableIsThatOfTheCode() throws Exception {
        List<String> page = Files.readAllLines(Path.of("..", "docs", "internals", "supervisor.md"));
        int table = page.indexOf("| state | definition | detection | action |") + 2;
        assertThat(page.subList(table, table + MemberState.values().length + 1)).containsExactly(rows());
    }

    private static String[] rows() {
        List<String> rows = Arrays.stream(MemberState.values())
                .map(state -> "| %s | %s | %s | %s |"
                        .formatted(
                                state.label(),
                                state.definition(),
                                state.detection(),
                                state.action().text()))
                .toList();
        return Stream.concat(rows.stream(), Stream.of("")).toArray(String[]::new);
    }
}
