package io.understudy.local.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server process that may outlive the JVM that started it. */
final class LastingProcess implements ServerProcess {

    private static final Logger LOG = LoggerFactory.getLogger(LastingProcess.class);
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

    /** Maximum wait for the arguments of a process that executes another program. */
    private static final Duration EXECUTE_PATIENCE = Duration.ofMillis(500);

    private final ServerCommand command;
    private final List<String> identifying;
    private volatile @Nullable ProcessHandle known;
    private volatile @Nullable Process child;
    private volatile boolean paused;

    /** @param identifying arguments that no other process of this machine has */
    LastingProcess(ServerCommand command, List<String> identifying) {
        this.command = command;
        this.identifying = identifying;
    }

    @Override
    public String name() {
        return command.name();
    }

    @Override
    public synchronized void start() {
        running().ifPresent(other -> {
            throw new IllegalStateException(name() + " is already running, process " + other.pid());
        });
        paused = false;
        List<String> line = new ArrayList<>(Detached.prefix());
        line.add(command.program().toString());
        line.addAll(command.arguments());
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(command.directory().toFile())
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(command.log().toFile()));
        builder.environment().putAll(command.environment());
        try {
            Process started = builder.start();
            child = started;
            known = started.toHandle();
            LOG.atInfo()
                    .addKeyValue("name", name())
                    .addKeyValue("pid", started.pid())
                    .log("server started");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + name() + " (" + command.program() + ")", e);
        }
    }

    @Override
    public synchronized void stop() {
        Optional<ProcessHandle> running = running();
        if (running.isEmpty()) {
            return;
        }
        var unused = running.get().destroy();
        // A stopped process acts on SIGTERM only once it is resumed.
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

    private boolean ends(ProcessHandle process) {
        long end = System.nanoTime() + STOP_PATIENCE.toNanos();
        return Waiting.until(
                STOP_PATIENCE.plusSeconds(1),
                () -> !process.isAlive() || (!isServer(process) && Threads.haveEnded(process.pid()))
                        ? Optional.of(true)
                        : System.nanoTime() > end ? Optional.of(false) : Optional.empty(),
                () -> new IllegalStateException("interrupted while waiting for " + name() + " to end"));
    }

    @Override
    public synchronized void pause() {
        ProcessHandle process =
                running().orElseThrow(() -> new IllegalStateException(name() + " is not running and cannot be paused"));
        Signals.send(process.pid(), "STOP");
        paused = true;
        Threads.awaitStopped(process.pid());
    }

    @Override
    public synchronized void resume() {
        if (paused) {
            running().ifPresent(process -> Signals.send(process.pid(), "CONT"));
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
    public OptionalInt exitStatus() {
        Process own = child;
        return own == null || own.isAlive() ? OptionalInt.empty() : OptionalInt.of(own.exitValue());
    }

    @Override
    public OptionalLong pid() {
        return running().map(process -> OptionalLong.of(process.pid())).orElse(OptionalLong.empty());
    }

    @Override
    public ServerLog log() {
        return new ServerLog(command.log());
    }

    /** Leaves it as it is. */
    @Override
    public void close() {}

    private Optional<ProcessHandle> running() {
        ProcessHandle last = known;
        if (last != null && isServer(last)) {
            return Optional.of(last);
        }
        Optional<ProcessHandle> found =
                ProcessHandle.allProcesses().filter(this::isServer).findFirst();
        found.ifPresent(process -> known = process);
        return found;
    }

    /** A zombie has no arguments any more. */
    private boolean isServer(ProcessHandle process) {
        return process.isAlive() && argumentsOf(process).containsAll(identifying);
    }

    /**
     * Arguments from {@code /proc}, since the JDK shortens long command lines. A process that has just been started may
     * briefly have none, or a part of one, while it executes another program.
     */
    private static List<String> argumentsOf(ProcessHandle process) {
        Path own = Path.of("/proc", Long.toString(process.pid()));
        if (!Files.isDirectory(own)) {
            return process.info().arguments().map(List::of).orElse(List.of());
        }
        long end = System.nanoTime() + EXECUTE_PATIENCE.toNanos();
        while (true) {
            String line = contentOf(own.resolve("cmdline"));
            if (line.endsWith("\0") || !isBusy(own) || System.nanoTime() > end) {
                return List.of(line.split("\0", -1));
            }
            Thread.onSpinWait();
        }
    }

    /** Whether it runs a program right now; kernel threads, zombies and sleeping processes don't. */
    private static boolean isBusy(Path process) {
        String stat = contentOf(process.resolve("stat"));
        // The name before it may hold anything.
        String state = stat.substring(stat.lastIndexOf(')') + 1).strip();
        return (state.startsWith("R") || state.startsWith("D")) && Files.exists(process.resolve("exe"));
    }

    /** Empty if the file is gone or belongs to another user. */
    private static String contentOf(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }
}
