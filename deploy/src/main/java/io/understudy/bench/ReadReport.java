package io.understudy.bench;

import java.util.List;

/** What the user gets. */
public record ReadReport(ReadBenchSettings settings, Surroundings surroundings, List<WorkResult> works) {

    public ReadReport {
        works = List.copyOf(works);
    }

    /** For people. */
    public String toText() {
        return new ReadReportText(this).write();
    }

    /** For programs: the same facts. */
    public String toJson() {
        return new ReadReportJson(this).write();
    }
}
