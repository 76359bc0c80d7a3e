package io.understudy.local.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant L1. */
class LocalProcessTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private ServerProcess server;

    @AfterEach
    void end() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void outputOfAllRunsIsInTheLogAndTheExitStatusIsKnown() {
        server = shell("echo line $RUN; exit 3", Map.of("RUN", "one"));
        assertThat(server.exitStatus()).isEmpty();
        for (int runs = 1; runs <= 2; runs++) {
            server.start();
            await().atMost(PATIENCE).until(() -> !server.isAlive());
            assertThat(server.exitStatus()).hasValue(3);
            assertThat(server.log().tail(5)).hasSize(runs).containsOnly("line one");
        }
    }

    @Test
    void stopSendsSigtermAndWaitsForTheEnd() {
        server = shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done", Map.of());
        server.start();
        await().atMost(PATIENCE).until(() -> server.log().from(0).contains("ready"));
        server.pause();
        assertThat(server.isPaused()).isTrue();
        server.stop();
        assertThat(server.exitStatus()).hasValue(0);
        assertThat(server.log().tail(1)).containsExactly("bye");
    }

    @Test
    void killEndsAPausedOneToo() {
        server = shell("exec sleep 1000", Map.of());
        server.start();
        server.pause();
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(state(server.pid().orElseThrow())).startsWith("T"));
        server.kill();
        assertThat(server.isAlive()).isFalse();
        assertThat(server.exitStatus()).hasValue(128 + 9);
    }

    @Test
    void aResumedProcessRuns() {
        server = shell("while :; do echo tick; sleep 0.02; done", Map.of());
        server.start();
        server.pause();
        long size = server.log().size();
        server.resume();
        await().atMost(PATIENCE).until(() -> server.log().size() > size);
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        server = shell("exec sleep 1000", Map.of());
        assertThatThrownBy(server::pause)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("test");
        server.start();
        assertThatThrownBy(server::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is already running");
        server.close();
        assertThat(server.isAlive()).isFalse();
        assertThatThrownBy(server::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    /** Invariant L1, for a JVM that gets no chance to clean up, and with it all of its process group. */
    @Test
    void noServerOutlivesAKilledJvmNotEvenAPausedOne() throws IOException {
        Process jvm = new ProcessBuilder(
                        "setsid",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xshare:auto",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        AbandoningJvm.class.getName(),
                        folder.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            Path pids = folder.resolve(AbandoningJvm.PIDS);
            await().atMost(PATIENCE).until(() -> Files.exists(pids));
            List<Long> servers =
                    Files.readAllLines(pids).stream().map(Long::valueOf).toList();
            assertThat(servers).hasSize(2).noneMatch(LocalProcessTest::isGone);
            Command.of(List.of("sh", "-c", "kill -9 -$1", "kill", Long.toString(jvm.pid())))
                    .run(PATIENCE);
            await().atMost(PATIENCE).until(() -> !jvm.isAlive());
            await().atMost(PATIENCE).until(() -> servers.stream().allMatch(LocalProcessTest::isGone));
        } finally {
            jvm.destroyForcibly();
        }
    }

    private ServerProcess shell(String script, Map<String, String> environment) {
        return new LocalProcesses()
                .prepare(new ServerCommand(
                        "test",
                        Path.of("/bin/sh"),
                        List.of("-c", script),
                        environment,
                        folder,
                        folder.resolve("test.log")));
    }

    private static boolean isGone(long pid) {
        String state = state(pid);
        return state.isEmpty() || state.startsWith("Z");
    }

    /** The state letter that the system shows, empty for no such process. */
    private static String state(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return stat.substring(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return "";
        }
    }
}
