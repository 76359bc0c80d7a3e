package io.understudy.lab.progress;

import java.io.PrintWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
