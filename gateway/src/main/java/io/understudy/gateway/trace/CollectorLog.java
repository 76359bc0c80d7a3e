package io.understudy.gateway.trace;

import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says when a collector begins to refuse spans, and when it takes them again. For any thread. */
final class CollectorLog {

    private static final Logger LOG = LoggerFactory.getLogger(CollectorLog.class);

    private final URI endpoint;
    private final AtomicBoolean refuses = new AtomicBoolean();

    CollectorLog(URI endpoint) {
        this.endpoint = endpoint;
    }

    void takes() {
        if (refuses.compareAndSet(true, false)) {
            LOG.info("spans are taken again endpoint={}", endpoint);
        }
    }

    void refuses(@Nullable Throwable why) {
        if (refuses.compareAndSet(false, true)) {
            LOG.warn("spans are lost until the collector takes them endpoint={} why={}", endpoint, text(why));
        }
    }

    private static String text(@Nullable Throwable why) {
        if (why == null || why.getCause() == null) {
            return "it refused them";
        }
        Throwable root = why.getCause();
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    }
}
