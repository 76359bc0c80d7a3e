package io.understudy.local.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server as a child of this JVM.
 *
 * <p>A child starts as a shell that waits for a word from the JVM and only then becomes the server, so that its
 * {@link Guard} watches before there is anything to leave behind.
 *
 * <p>Invariant L1: no child outlives this JVM, whatever ends it.
 */
final class LocalProcess implements ServerProcess {

    private static final Logger LOG = LoggerFactory.getLogger(LocalProcess.class);
    private static final long STOP_SECONDS = 10;
    private static final String WAIT_THEN_RUN = "read -r go || exit 125; exec \"$@\" </dev/null";

    private final ServerCommand command;
    private volatile @Nullable Process process;
    private volatile boolean paused;
    private boolean closed;

    LocalProcess(ServerCommand command) {
        this.command = command;
    }

    @Override
    public String name() {
        return command.name();
    }

    @Override
    public synchronized void start() {
        if (closed) {
            throw new IllegalStateException(name() + " is closed");
        }
        if (isAlive()) {
            throw new IllegalStateException(name() + " is already running, process " + process());
        }
        paused = false;
        try {
            Process child = launch();
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
            LOG.atInfo()
                    .addKeyValue("name", name())
                    .addKeyValue("pid", child.pid())
                    .log("server started");
        } catch (IOException e) {
            kill();
            throw new UncheckedIOException("cannot start " + name() + " (" + command.program() + ")", e);
        }
    }

    private Process launch() throws IOException {
        List<String> line = new ArrayList<>(Detached.prefix());
        line.addAll(List.of("sh", "-c", WAIT_THEN_RUN, name(), command.program().toString()));
        line.addAll(command.arguments());
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(command.directory().toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(command.log().toFile()));
        builder.environment().putAll(command.environment());
        return builder.start();
    }

    @Override
    public synchronized void stop() {
        if (!isAlive()) {
            return;
        }
        Process running = process();
        running.destroy();
        // A stopped process acts on SIGTERM only after SIGCONT.
        resume();
        if (!ends(running, STOP_SECONDS)) {
            LOG.atWarn()
                    .addKeyValue("name", name())
                    .addKeyValue("pid", running.pid())
                    .log("server did not stop; killing it");
            kill();
        }
    }

    @Override
    public synchronized void kill() {
        if (process == null) {
            return;
        }
        Process running = process();
        running.destroyForcibly();
        if (!ends(running, STOP_SECONDS)) {
            throw new IllegalStateException(
                    name() + " (process " + running.pid() + ") is still running " + STOP_SECONDS + " s after SIGKILL");
        }
        paused = false;
    }

    private boolean ends(Process running, long seconds) {
        try {
            return running.waitFor(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            running.destroyForcibly();
            throw new IllegalStateException("interrupted while waiting for " + name() + " to end; process killed", e);
        }
    }

    @Override
    public synchronized void pause() {
        if (!isAlive()) {
            throw new IllegalStateException(name() + " is not running and cannot be paused");
        }
        if (!paused) {
            Signals.send(process().pid(), "STOP");
            paused = true;
            Threads.awaitStopped(process().pid());
            LOG.atInfo()
                    .addKeyValue("name", name())
                    .addKeyValue("pid", process().pid())
                    .log("server paused");
        }
    }

    @Override
    public synchronized void resume() {
        if (paused && isAlive()) {
            Signals.send(process().pid(), "CONT");
            LOG.atInfo()
                    .addKeyValue("name", name())
                    .addKeyValue("pid", process().pid())
                    .log("server resumed");
        }
        paused = false;
    }

    @Override
    public boolean isAlive() {
        Process known = process;
        return known != null && known.isAlive();
    }

    @Override
    public boolean isPaused() {
        return paused && isAlive();
    }

    @Override
    public OptionalInt exitStatus() {
        Process known = process;
        return known == null || known.isAlive() ? OptionalInt.empty() : OptionalInt.of(known.exitValue());
    }

    @Override
    public OptionalLong pid() {
        Process known = process;
        return known != null && known.isAlive() ? OptionalLong.of(known.pid()) : OptionalLong.empty();
    }

    @Override
    public ServerLog log() {
        return new ServerLog(command.log());
    }

    @Override
    public synchronized void close() {
        closed = true;
        kill();
    }

    private Process process() {
        Process known = process;
        if (known == null) {
            throw new IllegalStateException(name() + " was never started");
        }
        return known;
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
