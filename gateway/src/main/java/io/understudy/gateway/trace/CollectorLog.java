package io.understudy.gateway.trace;

import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs when a collector begins to reject spans, and when it accepts them again. Thread-safe. */
final class CollectorLog {

    private static final Logger LOG = LoggerFactory.getLogger(CollectorLog.class);

    private final URI endpoint;
    private final AtomicBoolean refuses = new AtomicBoolean();

    CollectorLog(URI endpoint) {
        this.endpoint = endpoint;
    }

    void takes() {
        if (refuses.compareAndSet(true, false)) {
            LOG.atInfo().addKeyValue("endpoint", endpoint).log("span export recovered");
        }
    }

    void refuses(@Nullable Throwable why) {
        if (refuses.compareAndSet(false, true)) {
            LOG.atWarn()
                    .addKeyValue("endpoint", endpoint)
                    .addKeyValue("cause", text(why))
                    .log("span export failed; dropping spans");
        }
    }

    private static String text(@Nullable Throwable why) {
        if (why == null || why.getCause() == null) {
            return "rejected by the collector";
        }
        Throwable root = why.getCause();
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    }
}
