package io.understudy.local.process;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server process of this machine. */
abstract class HandledProcess implements ServerProcess {

    /** Longest time that a process takes to end after a signal. */
    static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(HandledProcess.class);

    private final ServerCommand command;
    private volatile boolean paused;

    HandledProcess(ServerCommand command) {
        this.command = command;
    }

    /** The process that runs now. */
    abstract Optional<ProcessHandle> running();

    /** Waits for the end of a process, for {@link #STOP_PATIENCE} at most. */
    abstract boolean ends(ProcessHandle process);

    /** Requires that none runs, before a start. */
    final void requireEnded() {
        running().ifPresent(other -> {
            throw new IllegalStateException(name() + " is already running, process " + other.pid());
        });
        paused = false;
    }

    /**
     * Starts a process in a session of its own, with its output in the log.
     *
     * @param prefix of the command line
     * @param input where its standard input comes from
     */
    final Process launch(List<String> prefix, ProcessBuilder.Redirect input) throws IOException {
        List<String> line = new ArrayList<>(Detached.prefix());
        line.addAll(prefix);
        line.add(command.program().toString());
        line.addAll(command.arguments());
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(command.directory().toFile())
                .redirectInput(input)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(command.log().toFile()));
        builder.environment().putAll(command.environment());
        Process started = builder.start();
        log("server started", started.pid());
        return started;
    }

    /** Describes a failed start. */
    final String cannotStart() {
        return "cannot start " + name() + " (" + command.program() + ")";
    }

    private void log(String event, long pid) {
        LOG.atInfo().addKeyValue("name", name()).addKeyValue("pid", pid).log(event);
    }

    @Override
    public String name() {
        return command.name();
    }

    @Override
    public synchronized void stop() {
        Optional<ProcessHandle> running = running();
        if (running.isEmpty()) {
            return;
        }
        var unused = running.get().destroy();
        // A stopped process acts on SIGTERM only after SIGCONT.
        resume();
        if (!ends(running.get())) {
            LOG.atWarn()
                    .addKeyValue("name", name())
                    .addKeyValue("pid", running.get().pid())
                    .log("server did not stop; killing it");
            kill();
        }
    }

    @Override
    public synchronized void kill() {
        Optional<ProcessHandle> running = running();
        if (running.isPresent()) {
            var unused = running.get().destroyForcibly();
            if (!ends(running.get())) {
                throw new IllegalStateException(
                        name() + " (process " + running.get().pid() + ") is still running after SIGKILL");
            }
        }
        paused = false;
    }

    @Override
    public synchronized void pause() {
        ProcessHandle process =
                running().orElseThrow(() -> new IllegalStateException(name() + " is not running and cannot be paused"));
        if (!paused) {
            Signals.send(process.pid(), "STOP");
            paused = true;
            Threads.awaitStopped(process.pid());
            log("server paused", process.pid());
        }
    }

    @Override
    public synchronized void resume() {
        if (paused) {
            running().ifPresent(process -> {
                Signals.send(process.pid(), "CONT");
                log("server resumed", process.pid());
            });
        }
        paused = false;
    }

    @Override
    public boolean isAlive() {
        return running().isPresent();
    }

    @Override
    public boolean isPaused() {
        return paused && isAlive();
    }

    @Override
    public OptionalLong pid() {
        return running().map(process -> OptionalLong.of(process.pid())).orElse(OptionalLong.empty());
    }

    @Override
    public ServerLog log() {
        return new ServerLog(command.log());
    }
}
