package io.understudy.bench;

import java.util.List;

/** How reads went. */
public record ReadReport(ReadBenchSettings settings, Surroundings surroundings, List<WorkResult> works)
        implements BenchReport {

    public ReadReport {
        works = List.copyOf(works);
    }

    @Override
    public String toText() {
        return new ReadReportText(this).write();
    }

    @Override
    public String toJson() {
        return new ReadReportJson(this).write();
    }
}
