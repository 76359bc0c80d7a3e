package io.understudy.local.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever a command does, its end is known by its deadline. */
final class CommandTest {

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    @Test
    void passesOnWhatItPrints() {
        assertThat(Command.of(List.of("echo", "done")).run(DEADLINE)).isEqualTo("done\n");
        assertThatThrownBy(() ->
                        Command.of(List.of("sh", "-c", "echo why >&2; exit 3")).run(DEADLINE))
                .isInstanceOf(CommandFailedException.class)
                .hasMessageContaining("ended with status 3: why");
    }

    @Test
    @Timeout(20)
    void whatIsLeftInTheBackgroundIsNotWaitedFor() {
        // By the end of the command its output is being waited for; else the JDK would close it.
        assertThatThrownBy(() -> Command.of(List.of("sh", "-c", "sleep 30 & echo done; sleep 0.5"))
                        .run(DEADLINE))
                .isInstanceOf(CommandFailedException.class)
                .hasMessageContaining("a child process keeps its output open");
    }
}
