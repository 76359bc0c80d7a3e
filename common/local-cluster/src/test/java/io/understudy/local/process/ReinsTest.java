package io.understudy.local.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReinsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Process held;

    @BeforeEach
    void begin() throws IOException {
        held = new ProcessBuilder("sleep", "1000").start();
    }

    @AfterEach
    void end() {
        held.destroyForcibly();
    }

    @Test
    void aProcessRestsAndGoesOnAsOftenAsItIsTold() {
        try (Reins reins = Reins.of(held.toHandle())) {
            for (int i = 0; i < 100; i++) {
                reins.hold();
                reins.letGo();
            }
            await().atMost(PATIENCE).until(() -> !isStopped());
            reins.hold();
            await().atMost(PATIENCE).until(this::isStopped);
            assertThat(reins.holds()).isTrue();
            reins.letGo();
            await().atMost(PATIENCE).until(() -> !isStopped());
        }
    }

    @Test
    void whoeverClosesThemHasItGoOn() {
        try (Reins reins = Reins.of(held.toHandle())) {
            reins.hold();
            await().atMost(PATIENCE).until(this::isStopped);
        }
        await().atMost(PATIENCE).until(() -> !isStopped());
    }

    @Test
    void itGoesOnThoughTheShellThatHoldsItIsKilled() {
        try (Reins reins = Reins.of(held.toHandle())) {
            reins.hold();
            await().atMost(PATIENCE).until(this::isStopped);
            shells().forEach(ProcessHandle::destroyForcibly);
            await().atMost(PATIENCE).until(() -> !isStopped());
            assertThat(reins.holds()).isFalse();
        }
    }

    @Test
    void aProcessGoesOnThoughEverythingThatHoldsItIsKilledButThisOne() {
        try (Reins reins = Reins.of(held.toHandle())) {
            reins.hold();
            await().atMost(PATIENCE).until(this::isStopped);
            Stream<ProcessHandle> all = shells().flatMap(shell -> Stream.concat(shell.descendants(), Stream.of(shell)));
            all.toList().forEach(ProcessHandle::destroyForcibly);
            await().atMost(PATIENCE).until(() -> !reins.holds());
            assertThatThrownBy(reins::letGo).isInstanceOf(UncheckedIOException.class);
        }
        await().atMost(PATIENCE).until(() -> !isStopped());
    }

    /** Those that were started by this JVM to hold the process. */
    private Stream<ProcessHandle> shells() {
        return ProcessHandle.current().children().filter(child -> Arrays.asList(
                        child.info().arguments().orElseGet(() -> new String[0]))
                .contains(Long.toString(held.pid())));
    }

    @Test
    void oneThatHasEndedIsHeldNoLonger() throws InterruptedException {
        try (Reins reins = Reins.of(held.toHandle())) {
            held.destroyForcibly().waitFor();
            reins.hold();
            assertThat(reins.holds()).isFalse();
        }
    }

    /** The JVM gets no chance to clean up, nor does anything of its process group. */
    @Test
    void aStoppedJvmAndAKilledOneLeaveNothingStopped() throws IOException {
        Process jvm = new ProcessBuilder(
                        "setsid",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HoldingJvm.class.getName(),
                        Long.toString(held.pid()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            await().atMost(PATIENCE).until(this::isStopped);
            Signals.send(jvm.pid(), "STOP");
            await().atMost(PATIENCE).until(() -> !isStopped());
            Signals.send(held.pid(), "STOP");
            Command.of(List.of("sh", "-c", "kill -9 -$1", "kill", Long.toString(jvm.pid())))
                    .run(PATIENCE);
            await().atMost(PATIENCE).until(() -> !isStopped());
        } finally {
            jvm.destroyForcibly();
        }
    }

    private boolean isStopped() throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(held.pid()), "stat"));
        return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
    }
}
