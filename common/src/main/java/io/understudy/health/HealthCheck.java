package io.understudy.health;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * One named condition.
 *
 * @param problem what is wrong now; empty when nothing is. Called on the answering thread, must not wait
 * @param remark what an operator should know though nothing is wrong; likewise
 */
public record HealthCheck(String name, Supplier<Optional<String>> problem, Supplier<Optional<String>> remark) {

    public HealthCheck(String name, Supplier<Optional<String>> problem) {
        this(name, problem, Optional::empty);
    }
}
