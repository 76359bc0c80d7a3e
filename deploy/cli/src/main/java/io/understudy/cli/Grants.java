package io.understudy.cli;

import io.understudy.cluster.access.EtcdAccess;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Grants a process access to its clusters, and prints the changes. */
final class Grants implements AutoCloseable {

    /** A cluster, by its group in the configuration. */
    private record Side(String name, EtcdAccess access, List<EtcdAccess.Need> needs) {}

    private final Output output;
    private final Duration timeout;
    private final List<Side> sides = new ArrayList<>();

    Grants(Output output, Duration timeout) {
        this.output = output;
        this.timeout = timeout;
    }

    /**
     * Adds a cluster; sends nothing yet.
     *
     * @param side group of the cluster in the configuration
     */
    void at(String side, EtcdSettings cluster, @Nullable Credentials root, List<EtcdAccess.Need> needs) {
        try {
            sides.add(new Side(side, new EtcdAccess(side, cluster, root, timeout), needs));
        } catch (IllegalArgumentException e) {
            throw output.usageError(String.valueOf(e.getMessage()));
        }
    }

    /** Reads what is missing in all clusters, then makes the changes. A failure prints those made before. */
    void run(boolean isDryRun) {
        List<Runnable> changes = new ArrayList<>();
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Side side : sides) {
            for (EtcdAccess.Change change : side.access().missing(side.needs(), output::note)) {
                changes.add(change.making());
                rows.add(Output.cells("cluster", side.name(), "action", change.text(), "done", false));
            }
        }
        int done = 0;
        try {
            for (; !isDryRun && done < changes.size(); done++) {
                changes.get(done).run();
                rows.get(done).put("done", true);
            }
        } finally {
            if (rows.isEmpty() && !output.isJson()) {
                output.lines(List.of("no change needed"));
            } else if (isDryRun || rows.isEmpty() || done > 0) {
                output.rows(List.of("cluster", "action", "done"), rows);
            }
        }
    }

    @Override
    public void close() {
        sides.forEach(side -> side.access().close());
    }
}
