package io.understudy.health;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The checks behind one endpoint, in the order they are reported. Immutable. */
public final class HealthChecks {

    private final List<HealthCheck> checks;

    public HealthChecks(HealthCheck... checks) {
        this(List.of(checks));
    }

    public HealthChecks(List<HealthCheck> checks) {
        this.checks = List.copyOf(checks);
    }

    /**
     * How the checks went.
     *
     * @param healthy whether every check passed
     * @param lines one per check, as etcd prints them
     */
    public record Report(boolean healthy, String lines) {}

    /**
     * How one check went.
     *
     * @param problem what is wrong; empty if nothing is
     * @param remark what an operator should know though nothing is wrong
     */
    public record Outcome(String name, Optional<String> problem, Optional<String> remark) {}

    /** Runs all checks; each for itself. */
    public List<Outcome> outcomes() {
        return checks.stream()
                .map(check -> new Outcome(
                        check.name(), check.problem().get(), check.remark().get()))
                .toList();
    }

    /** Returns all checks but the excluded ones. Unknown names are ignored, as in etcd. */
    public HealthChecks without(Set<String> excluded) {
        return new HealthChecks(checks.stream()
                .filter(check -> !excluded.contains(check.name()))
                .toList());
    }

    /** The one of that name; empty if there is none. */
    public Optional<HealthChecks> only(String name) {
        return checks.stream()
                .filter(check -> check.name().equals(name))
                .findFirst()
                .map(HealthChecks::new);
    }

    /** Runs all of them. */
    public Report run() {
        boolean healthy = true;
        StringBuilder lines = new StringBuilder();
        for (Outcome outcome : outcomes()) {
            healthy &= outcome.problem().isEmpty();
            lines.append(outcome.problem()
                    .map(why -> "[-]" + outcome.name() + " failed: " + why + "\n")
                    .orElseGet(() -> "[+]" + outcome.name() + " ok"
                            + outcome.remark().map(remark -> ": " + remark).orElse("") + "\n"));
        }
        return new Report(healthy, lines.toString());
    }

    /** The first problem, if any. */
    public Optional<String> problem() {
        return checks.stream()
                .flatMap(check -> check.problem().get().map(why -> check.name() + ": " + why).stream())
                .findFirst();
    }
}
