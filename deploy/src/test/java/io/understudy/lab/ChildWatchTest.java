package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.lab.failure.LabException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant DP6. */
final class ChildWatchTest {

    @TempDir
    private Path folder;

    private final List<String> notes = new ArrayList<>();
    private final List<ShellPart> parts = new ArrayList<>();

    @AfterEach
    void killAll() {
        parts.forEach(part -> part.process().close());
    }

    @Test
    void aKilledChildStartsAgainWithOneNote() {
        ShellPart part = started("mirror", "sleep 600");
        ChildWatch watch = watch(part);
        watch.restartTheKilled();
        long before = part.process().pid().orElseThrow();

        kill(part);
        watch.restartTheKilled();

        long after = part.process().pid().orElseThrow();
        assertThat(after).isNotEqualTo(before);
        assertThat(notes)
                .singleElement()
                .asString()
                .contains("mirror", "pid " + before, "was killed by SIGKILL", "pid " + after);
    }

    @Test
    void aChildThatIsKilledAgainAndAgainEndsTheLab() {
        ShellPart part = started("mirror", "sleep 600");
        ChildWatch watch = watch(part);
        for (int death = 0; death < 2; death++) {
            kill(part);
            watch.restartTheKilled();
        }
        kill(part);

        assertThatThrownBy(watch::restartTheKilled)
                .isInstanceOf(LabException.class)
                .hasMessageContainingAll("mirror", "SIGKILL", "3 within 60 s");
    }

    @Test
    void aChildThatGivesUpEndsTheLabWithItsLastWords() {
        ShellPart part = started("mirror", "echo cannot go on; exit 1");
        ended(part);

        assertThatThrownBy(() -> watch(part).restartTheKilled())
                .isInstanceOf(LabException.class)
                .hasMessageContainingAll(
                        "mirror failed with exit status 1",
                        folder.resolve("mirror.log").toString(),
                        "cannot go on");
    }

    @Test
    void whileStartingAKilledChildEndsTheLabToo() {
        ShellPart part = started("mirror", "sleep 600");
        kill(part);

        assertThatThrownBy(() -> watch(part).requireAllAlive())
                .isInstanceOf(LabException.class)
                .hasMessageContaining("mirror was killed by SIGKILL during the start of the lab");
    }

    @Test
    void aChildThatWasNeverStartedIsNotMissed() {
        ShellPart part = ShellPart.of("mirror", folder, "sleep 600");

        watch(part).requireAllAlive();
        watch(part).restartTheKilled();

        assertThat(notes).isEmpty();
    }

    private ShellPart started(String name, String script) {
        ShellPart part = ShellPart.of(name, folder, script);
        parts.add(part);
        part.start();
        return part;
    }

    private void kill(ShellPart part) {
        ProcessHandle.of(part.process().pid().orElseThrow()).orElseThrow().destroyForcibly();
        ended(part);
    }

    private static void ended(ShellPart part) {
        await().until(() -> !part.process().isAlive());
    }

    private ChildWatch watch(ShellPart part) {
        return new ChildWatch(List.of(part), InstantSource.system(), notes::add);
    }
}
