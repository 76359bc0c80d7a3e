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
final class Grants {

    private final Output output;
    private final Duration timeout;
    private final boolean isDryRun;
    private final List<Map<String, Object>> changes = new ArrayList<>();

    Grants(Output output, Duration timeout, boolean isDryRun) {
        this.output = output;
        this.timeout = timeout;
        this.isDryRun = isDryRun;
    }

    /** @param side group of the cluster in the configuration */
    void at(String side, EtcdSettings cluster, @Nullable Credentials root, List<EtcdAccess.Need> needs) {
        try (EtcdAccess access = new EtcdAccess(side, cluster, root, timeout)) {
            access.grant(needs, isDryRun, output::note)
                    .forEach(change -> changes.add(Output.cells("cluster", side, "action", change, "done", !isDryRun)));
        } catch (IllegalArgumentException e) {
            throw output.usageError(String.valueOf(e.getMessage()));
        }
    }

    void print() {
        if (changes.isEmpty() && !output.isJson()) {
            output.lines(List.of("no change needed"));
        } else {
            output.rows(List.of("cluster", "action", "done"), changes);
        }
    }
}
