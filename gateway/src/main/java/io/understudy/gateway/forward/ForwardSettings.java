package io.understudy.gateway.forward;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.time.Duration;

/** How requests are handled that the replica cannot serve. */
public record ForwardSettings(
        @Configured(
                value = "Handling of writes. refuse: reject them as a learner does. forward: forward them to the voting"
                        + " members.",
                byDefault = "refuse")
        Writes writes,

        @Configured(
                key = "forward.timeout",
                value =
                        "Timeout of forwarded calls without a deadline. It does not apply to streams and to calls that wait"
                                + " for other clients, such as Lock. Also the maximum time that a call waits for a reachable"
                                + " member.",
                byDefault = "15s",
                range = "100ms..1h")
        Duration timeout,

        @Configured(
                key = "forward.maxWatches",
                value =
                        "Maximum number of forwarded watches; excess watches are rejected. With writes: forward, watches of"
                                + " keys outside range.prefix are forwarded.",
                byDefault = "1000",
                range = "1..1000000")
        int maxWatches) {

    /** Defaults; the timeout is longer than etcd's own, which is 7 s by default. */
    public static final ForwardSettings DEFAULTS = Binder.defaults(ForwardSettings.class);

    /** The same with another handling of writes. */
    public ForwardSettings with(Writes other) {
        return Binder.with(this, other);
    }

    /**
     * How write requests are handled.
     *
     * <p>Invariant W4: by default, no write is forwarded.
     */
    public enum Writes {
        /** Rejected, as by a learner. */
        REFUSE,
        /** Forwarded to a voting member. */
        FORWARD
    }
}
