package io.understudy.local.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant L3. */
class ProcessorLimitTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Of {@code sched(7)}. */
    private static final int USUAL = 0;

    private static final int IDLE = 5;

    private static final Duration NONE = Duration.ofMillis(1);
    private static final Duration ALL = Duration.ofHours(1);

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
    void aProcessHasItsShareOfAProcessor() throws Exception {
        Process busy = new ProcessBuilder("sh", "-c", "while :; do :; done").start();
        try (ProcessorLimit limit = ProcessorLimit.of(busy.toHandle())) {
            limit.set(Duration.ofMillis(5), Duration.ofMillis(100));
            Duration tenth = Duration.ofMillis(100);

            Duration before = processorTime(busy);
            long began = System.nanoTime();
            await().atMost(PATIENCE)
                    .until(() -> processorTime(busy).minus(before).compareTo(tenth) > 0);

            // As much as it would have had in a tenth of a second; other processes only make it longer.
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(500));
            assertThat(limit.holds()).isTrue();
        } finally {
            busy.destroyForcibly();
        }
    }

    private static Duration processorTime(Process process) {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** The shell reads its input in pieces, whenever it has nothing else to do. */
    @Test
    void aShareMayBeChangedAsOftenAsItIsWanted() {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            for (int i = 0; i < 2_000; i++) {
                limit.set(Duration.ofNanos(100_000 + i), Duration.ofMillis(1).plusNanos(i));
            }
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(() -> isAlways(true));
            limit.set(Duration.ofMillis(1), Duration.ofMillis(2));
            await().atMost(PATIENCE).until(() -> !isStopped());
            assertThat(limit.holds()).isTrue();
        }
    }

    /** For longer than the periods and slices of these tests. */
    private boolean isAlways(boolean stopped) throws IOException {
        long end = System.nanoTime() + Duration.ofMillis(150).toNanos();
        while (System.nanoTime() < end) {
            if (isStopped() != stopped) {
                return false;
            }
        }
        return true;
    }

    @Test
    void closingResumesTheProcess() {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(this::isStopped);
        }
        await().atMost(PATIENCE).until(() -> !isStopped());
    }

    @Test
    void theProcessResumesWhenItsShellIsKilled() {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(this::isStopped);
            shells().forEach(ProcessHandle::destroyForcibly);
            await().atMost(PATIENCE).until(() -> !isStopped());
            assertThat(limit.holds()).isFalse();
        }
    }

    @Test
    void closingResumesTheProcessAfterBothShellsAreKilled() {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(this::isStopped);
            Stream<ProcessHandle> all = shells().flatMap(shell -> Stream.concat(shell.descendants(), Stream.of(shell)));
            all.toList().forEach(ProcessHandle::destroyForcibly);
            await().atMost(PATIENCE).until(() -> !limit.holds());
            assertThatThrownBy(() -> limit.set(NONE, ALL)).isInstanceOf(UncheckedIOException.class);
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
    void oneThatHasEndedIsLimitedNoLonger() throws InterruptedException {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.set(Duration.ofMillis(1), Duration.ofMillis(2));
            held.destroyForcibly().waitFor();
            assertThat(limit.holds()).isFalse();
        }
    }

    /** The JVM gets no chance to clean up, nor does anything of its process group. */
    @ParameterizedTest
    @ValueSource(strings = {"STOP", "KILL"})
    void aJvmThatIsStoppedOrKilledLeavesNothingStopped(String signal) throws IOException {
        Process jvm = new ProcessBuilder(
                        "setsid",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LimitingJvm.class.getName(),
                        Long.toString(held.pid()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            await().atMost(PATIENCE).until(this::isStopped);
            Command.of(List.of("sh", "-c", "kill -$1 -$2", "kill", signal, Long.toString(jvm.pid())))
                    .run(PATIENCE);
            await().atMost(PATIENCE).until(() -> isAlways(false));
        } finally {
            jvm.destroyForcibly();
        }
    }

    @Test
    void theProcessResumesWhenItsShellIsStopped() {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(this::isStopped);
            shells().forEach(shell -> Signals.send(shell.pid(), "STOP"));
            await().atMost(PATIENCE).until(() -> !isStopped());
            await().atMost(PATIENCE).until(() -> !limit.holds());
        }
    }

    @Test
    void theProcessRunsWhenTheLimitIsLiftedAndStopsWhenItIsSetAgain() {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(this::isStopped);
            limit.lift();
            await().atMost(PATIENCE).until(() -> isAlways(false));
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(() -> isAlways(true));
        }
    }

    @Test
    void itGivesWayToOthersUntilItIsClosed() throws Exception {
        assumeTrue(mayGiveBack(), "takes a user who may give back what it took");
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.set(NONE, ALL);
            await().atMost(PATIENCE).until(this::isStopped);
            limit.giveWay(Duration.ofMillis(1), Duration.ofMillis(5));
            await().atMost(PATIENCE).until(() -> policy() == IDLE);
            await().atMost(PATIENCE).until(() -> isAlways(false));
        }
        assertThat(policy()).isEqualTo(USUAL);
    }

    @Test
    void itGivesWayNoLongerThoughTheShellIsKilled() throws Exception {
        assumeTrue(mayGiveBack(), "takes a user who may give back what it took");
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.giveWay(Duration.ofMillis(1), Duration.ofMillis(5));
            await().atMost(PATIENCE).until(() -> policy() == IDLE);
            shells().forEach(ProcessHandle::destroyForcibly);
            await().atMost(PATIENCE).until(() -> policy() == USUAL);
        }
    }

    @Test
    void aPolicyOfItsOwnIsKept() throws Exception {
        Command.of(List.of("chrt", "--batch", "--pid", "0", Long.toString(held.pid())))
                .run(PATIENCE);
        int own = policy();
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            limit.giveWay(NONE, ALL);
            await().atMost(PATIENCE).until(this::isStopped);
        }
        assertThat(policy()).isEqualTo(own).isNotEqualTo(USUAL);
    }

    @Test
    void whatARunLeftThatWasKilledWithAllItsShellsIsUndone() throws Exception {
        assumeTrue(mayGiveBack(), "takes a user who may give back what it took");
        Command.of(List.of("chrt", "--idle", "--pid", "0", Long.toString(held.pid())))
                .run(PATIENCE);
        Signals.send(held.pid(), "STOP");

        ProcessorLimit.of(held.toHandle()).close();

        assertThat(policy()).isEqualTo(USUAL);
        await().atMost(PATIENCE).until(() -> !isStopped());
    }

    /** Whether this user is privileged to have another process leave SCHED_IDLE, not only by a limit of that. */
    private static boolean mayGiveBack() throws Exception {
        String line = "ulimit -e 0 && { sleep 5 & chrt --idle --pid 0 $! && chrt --other --pid 0 $!; }";
        return new ProcessBuilder("bash", "-c", line).start().waitFor() == 0;
    }

    @Test
    void aShareThatIsNoneIsRefused() {
        try (ProcessorLimit limit = ProcessorLimit.of(held.toHandle())) {
            assertThatIllegalArgumentException().isThrownBy(() -> limit.set(Duration.ZERO, ALL));
            assertThatIllegalArgumentException().isThrownBy(() -> limit.set(ALL, ALL));
            assertThatIllegalArgumentException().isThrownBy(() -> limit.giveWay(ALL, ALL));
        }
    }

    private boolean isStopped() throws IOException {
        return field(3).equals("T");
    }

    private int policy() throws IOException {
        return Integer.parseInt(field(41));
    }

    /** As {@code proc(5)} counts them; the second may hold blanks. */
    private String field(int number) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(held.pid()), "stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[number - 3];
    }
}
