package io.understudy.lab.progress;

import io.understudy.lab.progress.Progress.Display.LineDisplay;
import io.understudy.lab.progress.Progress.Display.TerminalDisplay;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The progress of a lab's parts, displayed as it changes. Thread-safe. */
public final class Progress implements AutoCloseable {

    private static final int STANDARD_COLUMNS = 80;

    private final Display display;
    private final LongSupplier nanoTime;
    private final ScheduledExecutorService ticker;
    private final Future<?> ticking;
    private final Map<String, PartState> states = new LinkedHashMap<>();
    private final Map<String, Long> startedAt = new LinkedHashMap<>();
    private boolean closed;

    Progress(Display display, LongSupplier nanoTime) {
        this.display = display;
        this.nanoTime = nanoTime;
        this.ticker = Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("lab-progress"));
        this.ticking = display.refreshMillis() == 0
                ? CompletableFuture.completedFuture(null)
                : ticker.scheduleAtFixedRate(
                        this::refresh, display.refreshMillis(), display.refreshMillis(), TimeUnit.MILLISECONDS);
    }

    /** Redrawn lines if standard error is a terminal that can, else a line per change. */
    public static Progress onStandardError(PrintWriter err, Map<String, String> environment) {
        Display display =
                isTerminal(environment) ? new TerminalDisplay(err, columns(environment)) : new LineDisplay(err);
        return new Progress(display, System::nanoTime);
    }

    /** Adds a part, waiting, below those already there. */
    public void add(String part, String waitsFor) {
        change(part, Phase.WAITING, waitsFor);
    }

    /** Advances a part to a phase, or only updates its detail. */
    public synchronized void change(String part, Phase phase, String detail) {
        if (closed) {
            return;
        }
        PartState before = states.get(part);
        if (phase == Phase.STARTING && (before == null || before.phase() != Phase.STARTING)) {
            // Also one that was ready before: its time starts again.
            startedAt.put(part, nanoTime.getAsLong());
        }
        PartState state = new PartState(part, phase, detail, took(part));
        states.put(part, state);
        display.show(current(), state);
    }

    /** Prints a permanent line. */
    public synchronized void note(String line) {
        display.note(line, closed ? List.of() : current());
    }

    private synchronized void refresh() {
        if (!closed && states.values().stream().anyMatch(state -> state.phase() == Phase.STARTING)) {
            display.refresh(current());
        }
    }

    private List<PartState> current() {
        List<PartState> all = new ArrayList<>();
        states.replaceAll((part, state) ->
                state.phase() == Phase.READY ? state : new PartState(part, state.phase(), state.detail(), took(part)));
        all.addAll(states.values());
        return all;
    }

    private Duration took(String part) {
        Long began = startedAt.get(part);
        return began == null ? Duration.ZERO : Duration.ofNanos(nanoTime.getAsLong() - began);
    }

    /** Leaves the last picture as it is; notes may still follow. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            display.end();
            ticking.cancel(false);
            ticker.shutdownNow();
        }
    }

    /**
     * Whether standard error is a terminal on which lines can be redrawn. Linux only.
     *
     * <p>The JDK reports that for standard input and output together, but not for standard error.
     */
    public static boolean isTerminal(Map<String, String> environment) {
        return !"dumb".equals(environment.getOrDefault("TERM", "dumb")) && standardErrorIsTerminal();
    }

    private static boolean standardErrorIsTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    private static int columns(Map<String, String> environment) {
        String columns = environment.getOrDefault("COLUMNS", "");
        return columns.matches("[1-9][0-9]{1,3}") ? Integer.parseInt(columns) : STANDARD_COLUMNS;
    }

    /** The phase of a part. */
    public enum Phase {
        WAITING,
        STARTING,
        READY;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The state of a part at one moment.
     *
     * @param detail what it is doing or waiting for, may be empty
     * @param took since it began to start; zero while it waits
     */
    public record PartState(String part, Phase phase, String detail, Duration took) {

        String seconds() {
            return String.format("%d.%d s", took.toSeconds(), took.toMillisPart() / 100);
        }
    }

    /** A display of part states. Called by one thread at a time. */
    interface Display {

        /** Returns the interval of refreshes without changes; zero for never. */
        long refreshMillis();

        /** Shows all parts, of which {@code changed} is new. */
        void show(List<PartState> all, PartState changed);

        /** Shows all parts as time passes. */
        void refresh(List<PartState> all);

        /** Shows a line for good, outside the parts' lines. */
        void note(String line, List<PartState> all);

        /** Ends updates of the displayed states; only notes follow. */
        void end();

        /** A display for logs and pipes: one line when a part enters a phase. */
        final class LineDisplay implements Display {

            private final PrintWriter out;
            private final Map<String, Phase> shown = new HashMap<>();

            LineDisplay(PrintWriter out) {
                this.out = out;
            }

            @Override
            public long refreshMillis() {
                return 0;
            }

            @Override
            public void show(List<PartState> all, PartState changed) {
                if (changed.phase() == Phase.WAITING || shown.put(changed.part(), changed.phase()) == changed.phase()) {
                    return;
                }
                String after = changed.phase() == Phase.READY ? " after " + changed.seconds() : "";
                String detail = changed.detail().isEmpty() ? "" : ": " + changed.detail();
                out.println(changed.part() + " " + changed.phase() + after + detail);
                out.flush();
            }

            @Override
            public void refresh(List<PartState> all) {}

            @Override
            public void note(String line, List<PartState> all) {
                out.println(line);
                out.flush();
            }

            @Override
            public void end() {}
        }

        /** A display for terminals: a line per part, redrawn in place. */
        final class TerminalDisplay implements Display {

            private static final long REFRESH_MILLIS = 100;
            private static final String SPINNER = "|/-\\";
            private static final String CLEAR_TO_END_OF_LINE = "\u001b[K";
            private static final String CLEAR_TO_END_OF_SCREEN = "\u001b[J";
            private static final String GREEN = "\u001b[32m";
            private static final String PLAIN = "\u001b[0m";

            private final PrintWriter out;
            private final int columns;
            private int drawn;
            private int turn;

            TerminalDisplay(PrintWriter out, int columns) {
                this.out = out;
                this.columns = columns;
            }

            @Override
            public long refreshMillis() {
                return REFRESH_MILLIS;
            }

            @Override
            public void show(List<PartState> all, PartState changed) {
                draw("", all);
            }

            @Override
            public void refresh(List<PartState> all) {
                turn++;
                draw("", all);
            }

            @Override
            public void note(String line, List<PartState> all) {
                draw(CLEAR_TO_END_OF_SCREEN + line + "\n", all);
            }

            @Override
            public void end() {
                drawn = 0;
            }

            private void draw(String above, List<PartState> all) {
                StringBuilder frame = new StringBuilder();
                if (drawn > 0) {
                    frame.append("\u001b[").append(drawn).append('A');
                }
                frame.append('\r').append(above);
                for (PartState state : all) {
                    frame.append(line(state)).append(CLEAR_TO_END_OF_LINE).append('\n');
                }
                drawn = all.size();
                out.print(frame);
                out.flush();
            }

            private String line(PartState state) {
                String sign =
                        switch (state.phase()) {
                            case WAITING -> " ";
                            case STARTING -> String.valueOf(SPINNER.charAt(turn % SPINNER.length()));
                            case READY -> "+";
                        };
                String time = state.phase() == Phase.WAITING ? "" : state.seconds();
                String text =
                        String.format("%s %-10s %-9s %7s  %s", sign, state.part(), state.phase(), time, state.detail());
                // A line that wraps would break the counting of lines to go up.
                String cut = text.length() < columns ? text : text.substring(0, columns - 1);
                return state.phase() == Phase.READY ? GREEN + cut + PLAIN : cut;
            }
        }
    }
}
