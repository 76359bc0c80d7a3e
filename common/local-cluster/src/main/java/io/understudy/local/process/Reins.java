package io.understudy.local.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a process of this machine rest and go on, hundreds of times a second if need be, which is more than a program
 * started for each signal would manage. However this JVM ends, SIGKILL included, the process goes on: the shell that
 * sends the signals reads them from a pipe whose other end only this JVM holds, and lets go when it ends. Another shell
 * looks every second whether that one is gone, or this JVM stopped, and then has the process go on.
 *
 * <p>For one thread.
 */
public final class Reins implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Reins.class);

    private static final String SCRIPT = """
            trap '' INT HUP TERM QUIT
            (
              while sleep 1 && kill -0 $$ && kill -0 "$1"; do
                read -r holder < "/proc/$PPID/stat"
                case "$holder" in *") T "*) kill -s CONT "$1" ;; esac
              done
              kill -s CONT "$1"
            ) &
            other=$!
            while read -r signal; do
              kill -s "$signal" "$1" || break
            done
            kill -s CONT "$1"
            kill -9 "$other"
            """;

    private static final byte[] STOP = "STOP\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CONTINUE = "CONT\n".getBytes(StandardCharsets.US_ASCII);

    private final ProcessHandle process;
    private final Process shell;
    private final OutputStream signals;

    private Reins(ProcessHandle process, Process shell) {
        this.process = process;
        this.shell = shell;
        this.signals = shell.getOutputStream();
    }

    /**
     * The process goes on running until it is held.
     *
     * @throws UncheckedIOException there is no shell
     */
    public static Reins of(ProcessHandle process) {
        List<String> line = new ArrayList<>(Detached.prefix());
        line.addAll(List.of("sh", "-c", SCRIPT, "reins", Long.toString(process.pid())));
        try {
            return new Reins(
                    process,
                    new ProcessBuilder(line)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a shell to hold process " + process.pid(), e);
        }
    }

    /** Has it rest (SIGSTOP): within a moment, none of its threads runs any more. Does nothing to one that has ended. */
    public void hold() {
        // Known by when it was started: a signal must not reach another process that was given the same id.
        if (process.isAlive()) {
            send(STOP);
        }
    }

    /** Has it go on (SIGCONT). */
    public void letGo() {
        send(CONTINUE);
    }

    /** Whether signals reach it; false also if it may not be signalled. */
    public boolean holds() {
        return process.isAlive() && shell.isAlive();
    }

    private void send(byte[] signal) {
        try {
            signals.write(signal);
            signals.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("process " + process.pid() + " can't be signalled", e);
        }
    }

    /** Lets the process go on, for good, and returns when it does. */
    @Override
    public void close() {
        try {
            signals.close();
        } catch (IOException e) {
            log.debug("the shell that holds a process is gone pid={}", process.pid());
        }
        // Whatever became of the shell, and whoever interrupts us.
        boolean interrupted = Thread.interrupted();
        try {
            if (process.isAlive()) {
                Signals.send(process.pid(), "CONT");
            }
        } catch (CommandFailedException e) {
            log.debug("a process can't be signalled, and so was not held pid={} why={}", process.pid(), e.getMessage());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
