package io.understudy.local.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Kills a child when this JVM is gone. A shell reads a pipe whose other end only this JVM holds: however the JVM ends,
 * SIGKILL included, the read ends, and the shell kills the child, paused or not. It needs no privilege and nothing but a
 * shell. The child's start time tells it from a later process that was given the same id.
 */
final class Guard {

    private static final String SCRIPT = """
            trap '' INT HUP TERM QUIT
            born() {
              [ -r "/proc/$1/stat" ] || { echo unknown; return; }
              read -r line < "/proc/$1/stat"
              set -- ${line##*) }
              echo "${20}"
            }
            was=$(born "$1")
            read -r word
            [ "$word" = released ] || [ "$(born "$1")" != "$was" ] || kill -9 "$1"
            """;

    private final Process shell;

    private Guard(Process shell) {
        this.shell = shell;
    }

    static Guard watch(long pid) throws IOException {
        List<String> line = new ArrayList<>(Detached.prefix());
        line.addAll(List.of("sh", "-c", SCRIPT, "guard", Long.toString(pid)));
        return new Guard(new ProcessBuilder(line)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** The child has ended: nothing to kill any more. */
    void release() {
        try (OutputStream word = shell.getOutputStream()) {
            word.write("released\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // The shell is gone already; it had nothing else to do.
            shell.destroyForcibly();
        }
    }
}
