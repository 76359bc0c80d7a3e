package io.understudy.cluster.supervise;

import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.SupervisorState.Event.Outcome;
import io.understudy.cluster.supervise.rule.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Orders to machines that a supervisor does not wait for. Each is in the journal when it ends. For one thread. */
final class OpenOrders {

    /** systemd kills what has not stopped after 90 s. */
    static final Duration DEADLINE = Duration.ofSeconds(100);

    private record Order(Decision.Change change, CompletableFuture<?> end, Instant since) {}

    private final Journal journal;
    private final List<Order> orders = new ArrayList<>();

    OpenOrders(Journal journal) {
        this.journal = journal;
    }

    void add(Decision.Change change, CompletableFuture<?> end, Instant now) {
        orders.add(new Order(change, end, now));
    }

    /** Whether an order is under way; one beyond the deadline is given up. */
    boolean areUnderWay(Instant now) {
        orders.removeIf(order -> hasEnded(order, now));
        return !orders.isEmpty();
    }

    private boolean hasEnded(Order order, Instant now) {
        boolean isLate = order.since().plus(DEADLINE).isBefore(now);
        if (order.end().isDone()) {
            String failure = order.end()
                    .handle((unused, cause) -> cause == null ? "" : String.valueOf(cause.getMessage()))
                    .join();
            record(order, failure.isEmpty() ? Outcome.DONE : Outcome.FAILED, failure);
        } else if (isLate) {
            record(order, Outcome.UNKNOWN, "not completed within " + DEADLINE.toSeconds() + " s; no longer waited for");
        }
        return order.end().isDone() || isLate;
    }

    private void record(Order order, Outcome outcome, String detail) {
        journal.record(new Event(Instant.now(), order.change(), outcome, detail));
    }
}
