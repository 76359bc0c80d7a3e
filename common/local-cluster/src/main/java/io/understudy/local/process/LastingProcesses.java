package io.understudy.local.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Runs servers that outlive this JVM, however it ends. Another JVM, or the same one later, finds them again among the
 * processes of this machine by the values of some of their arguments; nothing is written down that could be wrong.
 */
public final class LastingProcesses implements ServerHost {

    private final List<String> flags;

    /** @param flags such as {@code --name=}; a server is the process with the same values of all of them */
    public LastingProcesses(List<String> flags) {
        this.flags = List.copyOf(flags);
    }

    @Override
    public ServerProcess prepare(ServerCommand command) {
        List<String> identifying = command.arguments().stream()
                .filter(argument -> flags.stream().anyMatch(argument::startsWith))
                .toList();
        if (identifying.size() != flags.size()) {
            throw new IllegalArgumentException(command.name() + " lacks flags that identify its process later: has "
                    + identifying + ", required: " + flags);
        }
        return new LastingProcess(command, identifying);
    }

    @Override
    public String toString() {
        return "detached local processes";
    }

    /** A server process that may outlive the JVM that started it. */
    private static final class LastingProcess extends HandledProcess {

        private static final Duration EXECUTE_PATIENCE = Duration.ofMillis(500);

        private final List<String> identifying;
        private volatile @Nullable ProcessHandle known;
        private volatile @Nullable Process child;

        /** @param identifying arguments that no other process of this machine has */
        LastingProcess(ServerCommand command, List<String> identifying) {
            super(command);
            this.identifying = identifying;
        }

        @Override
        public synchronized void start() {
            requireEnded();
            try {
                Process started = launch(List.of(), ProcessBuilder.Redirect.from(new File("/dev/null")));
                child = started;
                known = started.toHandle();
            } catch (IOException e) {
                throw new UncheckedIOException(cannotStart(), e);
            }
        }

        @Override
        boolean ends(ProcessHandle process) {
            long end = System.nanoTime() + STOP_PATIENCE.toNanos();
            return Waiting.until(
                    STOP_PATIENCE.plusSeconds(1),
                    () -> !process.isAlive() || (!isServer(process) && Threads.haveEnded(process.pid()))
                            ? Optional.of(true)
                            : System.nanoTime() > end ? Optional.of(false) : Optional.empty(),
                    () -> new IllegalStateException("interrupted while waiting for " + name() + " to end"));
        }

        @Override
        public OptionalInt exitStatus() {
            Process own = child;
            return own == null || own.isAlive() ? OptionalInt.empty() : OptionalInt.of(own.exitValue());
        }

        /** Leaves it as it is. */
        @Override
        public void close() {}

        @Override
        Optional<ProcessHandle> running() {
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
}
