package io.understudy.local.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the CPU time of a local process. A shell stops it (SIGSTOP) for the rest of each period. The kernel's quota is
 * only exact to a tick of its clock, which is far longer than the slices used here.
 *
 * <p>The shell has real-time priority (SCHED_FIFO) where this user may set that. Otherwise slices last longer on a busy
 * machine.
 *
 * <p>However this JVM ends, SIGKILL included, the limit ends: the shell reads its commands from a pipe that only this
 * JVM holds open. A second shell checks every second whether the first is gone, or this JVM or the first is stopped,
 * and then resumes the process. Only killing all three at once leaves it as it is.
 *
 * <p>Not thread-safe.
 *
 * <p>Invariant L3: a limited process runs without limit after its limiter is killed.
 */
public final class ProcessorLimit implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ProcessorLimit.class);

    /**
     * Identifies the process by its start time, since process IDs are reused. A line is written at once and so read at
     * once, once it has begun: a time-out in its midst would lose a part of it.
     *
     * <p>Policy 5 is SCHED_IDLE, which is taken as set by this class, also in an earlier run; 0 is the usual one, and a
     * process with another keeps it. To leave SCHED_IDLE takes a privilege (CAP_SYS_NICE), or a limit of the process
     * that is not visible here ({@code RLIMIT_NICE} in {@code sched(7)}). The script tries this without that limit and
     * on an idle process, as a shell with SCHED_IDLE might not run again on a busy machine. A thread inherits the
     * policy of its creator, so threads that start during the change are found only by repeating it.
     */
    private static final String SCRIPT = """
            trap '' INT HUP TERM QUIT
            isThere() {
              local line
              read -r line < "/proc/$pid/stat" || return
              set -- ${line##*) }
              born=${born:-${20}}
              policy=${39}
              [ "${20}" = "$born" ]
            }
            isIdle() {
              isThere && [ "$policy" = 5 ]
            }
            letGo() {
              isThere && kill -s CONT "$pid"
              isIdle && { chrt --all-tasks --other --pid 0 "$pid"; chrt --all-tasks --other --pid 0 "$pid"; }
            }
            mayGiveBack() (
              ulimit -e 0 || exit
              sleep 5 &
              chrt --idle --pid 0 $! && chrt --other --pid 0 $!
              answer=$?
              kill -9 $!
              exit "$answer"
            )
            giveWay() {
              [ "$policy" = 0 ] && mayGiveBack && chrt --all-tasks --idle --pid 0 "$pid"
              isIdle && slice=86400 && rest=0.000001
            }
            lasting() {
              local first
              read -r -t "$1" -n 1 first
              local ended=$?
              if [ -n "$first" ]; then
                read -r slice rest manner && slice=$first$slice
              else
                [ "$ended" -gt 128 ]
              fi
            }
            pid=$1
            isThere || exit
            (
              while sleep 1 && kill -0 $$ && isThere; do
                read -r holder < "/proc/$PPID/stat"
                read -r shell < "/proc/$$/stat"
                case "$holder$shell" in *") T "*) kill -9 $$; break ;; esac
              done
              letGo
            ) &
            other=$!
            chrt --fifo --pid 1 $$
            read -r slice rest manner &&
              while isThere; do
                [ -z "$manner" ] || giveWay
                manner=
                kill -s STOP "$pid" && lasting "$rest" && kill -s CONT "$pid" && lasting "$slice" || break
              done
            letGo
            kill -9 "$other"
            """;

    private static final Duration LEAST = Duration.ofNanos(1_000);

    private static final Duration NO_END = Duration.ofDays(1);

    /** Maximum wait for the end of the shell. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final ProcessHandle process;
    private final Process shell;
    private final OutputStream shares;

    private ProcessorLimit(ProcessHandle process, Process shell) {
        this.process = process;
        this.shell = shell;
        this.shares = shell.getOutputStream();
    }

    /**
     * Starts the limiter; the process runs unlimited until {@link #set}.
     *
     * @throws UncheckedIOException no program can be started; without a bash, it soon {@link #holds} no more
     */
    public static ProcessorLimit of(ProcessHandle process) {
        List<String> line = new ArrayList<>(Detached.prefix());
        line.addAll(List.of("bash", "-c", SCRIPT, "limit", Long.toString(process.pid())));
        try {
            return new ProcessorLimit(
                    process,
                    new ProcessBuilder(line)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a shell to limit process " + process.pid(), e);
        }
    }

    /**
     * Lets its threads run for a slice of each period.
     *
     * @param slice at least a microsecond
     * @param period longer than the slice, by a microsecond at least
     * @throws IllegalArgumentException the values are out of these bounds
     * @throws UncheckedIOException it can't be limited any more, see {@link #holds}
     */
    public void set(Duration slice, Duration period) {
        requireShare(slice, period);
        send(slice, period, "");
    }

    private static void requireShare(Duration slice, Duration period) {
        if (slice.compareTo(LEAST) < 0 || period.minus(slice).compareTo(LEAST) < 0) {
            throw new IllegalArgumentException("invalid CPU slice of " + slice + " per " + period);
        }
    }

    private void send(Duration slice, Duration period, String manner) {
        try {
            shares.write((seconds(slice) + " " + seconds(period.minus(slice)) + manner + "\n")
                    .getBytes(StandardCharsets.US_ASCII));
            shares.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot limit process " + process.pid(), e);
        }
    }

    /**
     * Sets SCHED_IDLE until closed, if this user may undo that. Otherwise limits as {@link #set} does.
     *
     * @throws IllegalArgumentException as of {@link #set}
     * @throws UncheckedIOException as of {@link #set}
     */
    public void giveWay(Duration slice, Duration period) {
        requireShare(slice, period);
        send(slice, period, " idle");
    }

    /**
     * Lets the process run unlimited until {@link #set}.
     *
     * @throws UncheckedIOException as of {@link #set}
     */
    public void lift() {
        set(NO_END, NO_END.plusMillis(1));
    }

    private static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.6f", time.toNanos() / 1e9);
    }

    /** False once the process or the shell has ended. The shell ends if it may not signal, or without bash. */
    public boolean holds() {
        return process.isAlive() && shell.isAlive();
    }

    /**
     * Ends the limit for good, whatever the state of the shell, and even if interrupted. The shell ends by itself, and
     * undoes what it did, unless it was stopped; then the second one does.
     */
    @Override
    public void close() {
        try {
            shares.close();
        } catch (IOException e) {
            LOG.atDebug().addKeyValue("pid", process.pid()).log("CPU limit already ended");
        }
        awaitEnd();
        if (shell.isAlive()) {
            // A signal that it is about to send would have the last word.
            shell.destroyForcibly();
            awaitEnd();
        }
        boolean interrupted = Thread.interrupted();
        try {
            if (process.isAlive()) {
                Signals.send(process.pid(), "CONT");
            }
        } catch (CommandFailedException e) {
            LOG.atDebug()
                    .addKeyValue("pid", process.pid())
                    .addKeyValue("cause", e.getMessage())
                    .log("process resume failed");
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void awaitEnd() {
        var unused = shell.onExit()
                .completeOnTimeout(shell, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }
}
