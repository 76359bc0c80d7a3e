package io.understudy.gateway.health;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The checks behind one endpoint, in the order they are reported. Immutable. */
public final class HealthChecks {

    private final List<HealthCheck> checks;

    public HealthChecks(HealthCheck... checks) {
        this.checks = List.of(checks);
    }

    /**
     * How the checks went.
     *
     * @param healthy whether every check passed
     * @param lines one per check, as etcd prints them
     */
    public record Report(boolean healthy, String lines) {}

    public List<String> names() {
        return checks.stream().map(HealthCheck::name).toList();
    }

    /** Runs all checks but those left out. */
    public Report run(Set<String> excluded) {
        boolean healthy = true;
        StringBuilder lines = new StringBuilder();
        for (HealthCheck check : checks) {
            if (excluded.contains(check.name())) {
                continue;
            }
            Optional<String> problem = check.problem().get();
            healthy &= problem.isEmpty();
            lines.append(problem.map(why -> "[-]" + check.name() + " failed: " + why + "\n")
                    .orElseGet(() -> "[+]" + check.name() + " ok"
                            + check.remark().get().map(remark -> ": " + remark).orElse("") + "\n"));
        }
        return new Report(healthy, lines.toString());
    }

    /** Runs one check; empty if there is none of that name. */
    public Optional<Report> run(String name) {
        return checks.stream()
                .filter(check -> check.name().equals(name))
                .findFirst()
                .map(check -> new HealthChecks(check).run(Set.of()));
    }

    /** The first problem, if any. */
    public Optional<String> problem() {
        return checks.stream()
                .flatMap(check -> check.problem().get().map(why -> check.name() + ": " + why).stream())
                .findFirst();
    }
}
