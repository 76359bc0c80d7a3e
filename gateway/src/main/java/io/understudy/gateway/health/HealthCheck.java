package io.understudy.gateway.health;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * One named condition.
 *
 * @param problem what is wrong now; empty when nothing is. Asked on an event loop, must not wait
 */
public record HealthCheck(String name, Supplier<Optional<String>> problem) {}
