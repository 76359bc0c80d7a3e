package io.understudy.local.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The kernel's state of the threads of another process. */
final class Threads {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private Threads() {}

    /**
     * Waits until all threads have stopped, since a signal reaches them one by one. Without {@code /proc} it doesn't
     * wait.
     *
     * @throws IllegalStateException some still ran after ten seconds
     */
    static void awaitStopped(long pid) {
        Path threads = Path.of("/proc", Long.toString(pid), "task");
        Waiting.until(
                PATIENCE,
                () -> areAll(threads, "TtZX") ? Optional.of(pid) : Optional.empty(),
                () -> new IllegalStateException(
                        "process " + pid + " is still running " + PATIENCE.toSeconds() + " s after SIGSTOP"));
    }

    /** Whether all threads have ended. A killed main thread may end before one in disk I/O. */
    static boolean haveEnded(long pid) {
        return areAll(Path.of("/proc", Long.toString(pid), "task"), "ZX");
    }

    private static boolean areAll(Path threads, String states) {
        try (DirectoryStream<Path> each = Files.newDirectoryStream(threads)) {
            for (Path thread : each) {
                if (!isIn(thread, states)) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            return true;
        }
    }

    /** State of the thread, after its name in parentheses. One that can't be read has ended. */
    private static boolean isIn(Path thread, String states) {
        try {
            String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
            return states.indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) >= 0;
        } catch (IOException e) {
            return true;
        }
    }
}
