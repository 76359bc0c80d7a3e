package io.understudy.config;

import java.util.List;
import java.util.stream.Collectors;

/** An invalid configuration; the message lists all problems. */
public final class ConfigurationException extends RuntimeException {

    private final transient List<Problem> problems;

    ConfigurationException(List<Problem> problems) {
        super(problems.stream()
                .map(problem -> "\n  " + problem)
                .collect(Collectors.joining(
                        "",
                        "invalid configuration: "
                                + (problems.size() == 1 ? "1 problem" : problems.size() + " problems"),
                        "")));
        this.problems = List.copyOf(problems);
    }

    /** At least one; those of the file first, in its order. */
    public List<Problem> problems() {
        return problems;
    }
}
