package io.understudy.gateway.server;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.server.LoadMetrics.Refusal;
import io.understudy.gateway.server.LoopLoad.RateBucket;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Admits the requests of one connection within the limits. On its loop. */
public final class Admission {

    private final LoopLoad load;
    private final LoadLimits limits;
    private final Supplier<String> client;
    private @Nullable RateBucket rate;
    private int inFlight;
    private long lastTurn = -1;

    Admission(LoopLoad load, LoadLimits limits, Supplier<String> client) {
        this.load = load;
        this.limits = limits;
        this.client = client;
    }

    /** Data of the connection has arrived. */
    public void reading() {
        load.reading();
    }

    /**
     * Admits a request; {@link #leave} ends it.
     *
     * @param lasts whether it is a stream
     * @throws ApiException if it is rejected
     */
    public void enter(boolean lasts, long nowNanos) throws ApiException {
        if (limits.maxRate() != null && !rate().take(nowNanos)) {
            throw refusal(Refusal.RATE);
        }
        if (!lasts) {
            if (!load.admits(lastTurn != load.turn())) {
                throw refusal(Refusal.OVERLOAD);
            }
            lastTurn = load.turn();
            if (inFlight >= limits.maxInFlightPerConnection()) {
                throw refusal(Refusal.CONNECTION);
            }
        }
        if (!load.enter(lasts)) {
            throw refusal(Refusal.LOOP);
        }
        if (!lasts) {
            inFlight++;
        }
    }

    public void leave(boolean lasts) {
        load.leave(lasts);
        if (!lasts) {
            inFlight--;
        }
    }

    private RateBucket rate() {
        RateBucket known = rate;
        if (known == null) {
            known = load.rateOf(client.get());
            if (known == null) {
                throw new IllegalStateException("limits.maxRate is not set");
            }
            rate = known;
        }
        return known;
    }

    private ApiException refusal(Refusal why) {
        load.refused(why);
        return switch (why) {
            case RATE ->
                ApiException.tooManyRequests(
                        ": client exceeds " + limits.maxRate() + " requests per second (limits.maxRate)");
            case CONNECTION ->
                ApiException.tooManyRequests(": connection exceeds " + limits.maxInFlightPerConnection()
                        + " requests in flight (limits.maxInFlightPerConnection)");
            default -> ApiException.tooManyRequests();
        };
    }
}
