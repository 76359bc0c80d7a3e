package io.understudy.cluster.supervise;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.rule.Decision;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Records each decision once, in the log and as an event, until it changes. Thread-safe. */
final class Journal {

    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);
    private static final int KEPT = 100;

    private final MeterRegistry meters;
    private final Deque<Event> events = new ArrayDeque<>();
    private @Nullable Event last;

    Journal(MeterRegistry meters) {
        this.meters = meters;
    }

    synchronized void record(Event event) {
        boolean isNew = last == null || !event.isLike(last);
        last = event;
        if (!isNew) {
            return;
        }
        events.addFirst(event);
        if (events.size() > KEPT) {
            events.removeLast();
        }
        String outcome = spelled(event.outcome());
        ClusterMeter.DECISIONS
                .counter()
                .tags("rule", event.decision().rule(), "outcome", outcome)
                .register(meters)
                .increment();
        log(event, outcome);
    }

    static String spelled(Event.Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static void log(Event event, String outcome) {
        Decision decision = event.decision();
        boolean isTrouble = decision instanceof Decision.QuorumLost
                || event.outcome() == Event.Outcome.REFUSED
                || event.outcome() == Event.Outcome.FAILED
                || event.outcome() == Event.Outcome.UNKNOWN;
        String arithmetic =
                decision instanceof Decision.Change change ? change.before() + " -> " + change.after() : "unchanged";
        LOG.atLevel(isTrouble ? Level.WARN : Level.INFO)
                .addKeyValue("rule", decision.rule())
                .addKeyValue("observed", decision.observed())
                .addKeyValue("done", decision.action())
                .addKeyValue("outcome", outcome)
                .addKeyValue("detail", event.detail())
                .addKeyValue("quorum", arithmetic)
                .log("decision");
    }

    synchronized Optional<Event> last() {
        return Optional.ofNullable(last);
    }

    synchronized List<Event> events() {
        return List.copyOf(events);
    }
}
