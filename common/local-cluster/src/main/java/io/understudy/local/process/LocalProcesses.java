package io.understudy.local.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs servers as child processes of this JVM. */
public final class LocalProcesses implements ServerHost {

    @Override
    public ServerProcess prepare(ServerCommand command) {
        return new LocalProcess(command);
    }

    @Override
    public String toString() {
        return "local processes";
    }

    /**
     * A server as a child of this JVM.
     *
     * <p>A child starts as a shell that waits for a word from the JVM and only then becomes the server, so that its
     * {@link Guard} watches before there is anything to leave behind.
     *
     * <p>Invariant L1: no child outlives this JVM, whatever ends it.
     */
    private static final class LocalProcess extends HandledProcess {

        private static final Logger LOG = LoggerFactory.getLogger(LocalProcess.class);
        private static final String WAIT_THEN_RUN = "read -r go || exit 125; exec \"$@\" </dev/null";

        private volatile @Nullable Process process;
        private boolean closed;

        LocalProcess(ServerCommand command) {
            super(command);
        }

        @Override
        public synchronized void start() {
            if (closed) {
                throw new IllegalStateException(name() + " is closed");
            }
            requireEnded();
            try {
                Process child = launch(List.of("sh", "-c", WAIT_THEN_RUN, name()), ProcessBuilder.Redirect.PIPE);
                process = child;
                Guard guard = Guard.watch(child.pid());
                var unused = child.onExit().thenAccept(ended -> {
                    guard.release();
                    LOG.atInfo()
                            .addKeyValue("name", name())
                            .addKeyValue("pid", ended.pid())
                            .addKeyValue("status", ended.exitValue())
                            .log("server ended");
                });
                try (OutputStream word = child.getOutputStream()) {
                    word.write("go\n".getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException e) {
                kill();
                throw new UncheckedIOException(cannotStart(), e);
            }
        }

        @Override
        Optional<ProcessHandle> running() {
            Process known = process;
            return known != null && known.isAlive() ? Optional.of(known.toHandle()) : Optional.empty();
        }

        @Override
        boolean ends(ProcessHandle running) {
            try {
                return Objects.requireNonNull(process).waitFor(STOP_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                var unused = running.destroyForcibly();
                throw new IllegalStateException(
                        "interrupted while waiting for " + name() + " to end; process killed", e);
            }
        }

        @Override
        public OptionalInt exitStatus() {
            Process known = process;
            return known == null || known.isAlive() ? OptionalInt.empty() : OptionalInt.of(known.exitValue());
        }

        @Override
        public synchronized void close() {
            closed = true;
            kill();
        }

        /**
         * Kills a child when this JVM is gone. A shell reads a pipe that only this JVM holds open: however the JVM ends,
         * SIGKILL included, the read ends, and the shell kills the child, paused or not. It needs no privilege and nothing
         * but a shell. The child's start time distinguishes it from a later process with the same id.
         */
        private static final class Guard {

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
    }
}
