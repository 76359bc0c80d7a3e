package io.understudy.gateway;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The steps of closing: every one is tried, whatever became of the others. */
final class Closing {

    private static final Logger LOG = LoggerFactory.getLogger(Closing.class);

    private final Duration stepDeadline;

    Closing(Duration stepDeadline) {
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

    /** Waits for what Vert.x does, a little longer than it was given itself. */
    void await(Future<?> future) throws Exception {
        Object unused = future.toCompletionStage()
                .toCompletableFuture()
                .get(stepDeadline.toMillis() + 2_000, TimeUnit.MILLISECONDS);
    }
}
