package io.understudy.gateway;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The steps of closing, all of which run even if some fail. */
final class ShutdownSteps {

    private static final Logger LOG = LoggerFactory.getLogger(ShutdownSteps.class);

    private final Duration stepDeadline;

    ShutdownSteps(Duration stepDeadline) {
        this.stepDeadline = stepDeadline;
    }

    /** One step. */
    interface Step {
        void run() throws Exception;
    }

    void run(String what, Step step) {
        try {
            step.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            LOG.atWarn().addKeyValue("step", what).log("shutdown step interrupted");
        } catch (Exception e) {
            LOG.atWarn().addKeyValue("step", what).setCause(e).log("shutdown step failed");
        }
    }

    /** Waits for Vert.x, a little longer than its own timeout. */
    void await(Future<?> future) throws Exception {
        Object unused = future.toCompletionStage()
                .toCompletableFuture()
                .get(stepDeadline.toMillis() + 2_000, TimeUnit.MILLISECONDS);
    }
}
