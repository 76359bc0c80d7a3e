package io.understudy.bench;

import java.util.List;
import java.util.Map;

/** What the user gets. */
public record ReadReport(
        ReadBenchSettings settings, Surroundings surroundings, Map<Role, Double> idleRates, List<WorkResult> works) {

    public ReadReport {
        idleRates = Map.copyOf(idleRates);
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
