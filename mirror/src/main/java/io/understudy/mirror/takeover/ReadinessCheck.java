package io.understudy.mirror.takeover;

import io.understudy.mirror.call.CallFailedException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks the {@link Readiness} of a running mirror, about 40 calls each time. One thread; {@link #found} any. */
public final class ReadinessCheck {

    private static final Logger LOG = LoggerFactory.getLogger(ReadinessCheck.class);
    private static final Duration INTERVAL = Duration.ofMinutes(7);

    private final String mirror;
    private final Supplier<Readiness> check;
    private final LongSupplier clock;
    private volatile @Nullable Readiness found;
    private boolean isChecked;
    private long checkedAt;

    /** @param clock in nanoseconds */
    ReadinessCheck(String mirror, Supplier<Readiness> check, LongSupplier clock) {
        this.mirror = mirror;
        this.check = check;
        this.clock = clock;
    }

    /** Checks if that is due; a cluster that does not respond, or has an alarm, changes nothing. Blocks. */
    public void step() {
        long now = clock.getAsLong();
        if (isChecked && now - checkedAt < INTERVAL.toNanos()) {
            return;
        }
        isChecked = true;
        checkedAt = now;
        try {
            become(check.get());
        } catch (TakeOverException e) {
            if (!(e.getCause() instanceof CallFailedException)) {
                throw e;
            }
        }
    }

    private void become(Readiness next) {
        Readiness before = found == null ? new Readiness(Instant.EPOCH, List.of(), null) : found;
        if (!next.problems().isEmpty() && !next.problems().equals(before.problems())) {
            LOG.atWarn()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("problems", String.join("; ", next.problems()))
                    .log("take-over not permitted");
        } else if (!next.problems().equals(before.problems()) || !Objects.equals(next.note(), before.note())) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("note", next.note())
                    .log(next.note() == null ? "take-over permitted" : "take-over not set up");
        }
        found = next;
    }

    /** As last checked; null if it never was. */
    public @Nullable Readiness found() {
        return found;
    }
}
