package io.understudy.bench;

import java.util.List;

/** How watches went. */
record WatchReport(WatchBenchSettings settings, Surroundings surroundings, List<WatchResult> works)
        implements BenchReport {

    WatchReport {
        works = List.copyOf(works);
    }

    @Override
    public String toText() {
        return new WatchReportText(this).write();
    }

    @Override
    public String toJson() {
        return new WatchReportJson(this).write();
    }
}
