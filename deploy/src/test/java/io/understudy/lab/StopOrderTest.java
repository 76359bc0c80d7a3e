package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.lab.Lab.StopOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant DP4. */
@Timeout(60)
final class StopOrderTest {

    @TempDir
    private Path folder;

    private final List<String> notes = new ArrayList<>();
    private final List<ShellPart> parts = new ArrayList<>();

    @AfterEach
    void killAll() {
        parts.forEach(part -> part.process().close());
    }

    @Test
    void groupsStopInOrderAndAreReported() {
        ShellPart mirror = started("mirror", "sleep 600");
        ShellPart core = started("core", "sleep 600");

        List<String> failures =
                new StopOrder(List.of(List.of(mirror), List.of(core)), Duration.ofSeconds(8), notes::add).stopAll();

        assertThat(failures).isEmpty();
        assertThat(notes).containsExactly("stopping mirror", "stopping core");
        assertThat(parts).noneMatch(part -> part.process().isAlive());
    }

    @Test
    void whatDoesNotStopIsKilledInTimeAndTheOthersAreStoppedAllTheSame() {
        ShellPart stubborn = started("mirror", "trap '' TERM; echo ready; while :; do sleep 0.1; done");
        await().until(() -> stubborn.process().log().tail(1).contains("ready"));
        ShellPart core = started("core", "sleep 600");

        List<String> failures =
                new StopOrder(List.of(List.of(stubborn), List.of(core)), Duration.ofSeconds(4), notes::add).stopAll();

        assertThat(failures).containsExactly("mirror did not stop in time; killed");
        assertThat(parts).noneMatch(part -> part.process().isAlive());
    }

    @Test
    void partsThatWereNeverStartedAreNoFailure() {
        ShellPart mirror = ShellPart.of("mirror", folder, "sleep 600");

        assertThat(new StopOrder(List.of(List.of(mirror)), Duration.ofSeconds(4), notes::add).stopAll())
                .isEmpty();
    }

    private ShellPart started(String name, String script) {
        ShellPart part = ShellPart.of(name, folder, script);
        parts.add(part);
        part.start();
        return part;
    }
}
