package io.understudy.lab.progress;

import io.understudy.lab.progress.Progress.PartState;
import io.understudy.lab.progress.Progress.Phase;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
