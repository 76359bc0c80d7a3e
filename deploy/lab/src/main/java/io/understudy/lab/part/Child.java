package io.understudy.lab.part;

import io.understudy.lab.failure.LabException;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import java.util.function.Supplier;

/**
 * One process of a part.
 *
 * @param name for people
 * @param process the present one
 * @param again starts it once more with the same data, without waiting until it serves
 */
public record Child(String name, Supplier<ServerProcess> process, Runnable again) {

    private static final int LOG_LINES = 12;

    static Child of(ServerProcess process) {
        return new Child(process.name(), () -> process, process::start);
    }

    /** Why the lab ends, in the child's own last words. */
    public LabException failure(String how) {
        ServerLog log = process.get().log();
        return new LabException(name + " " + how + "; end of its log " + log.file() + ":\n  "
                + String.join("\n  ", log.tail(LOG_LINES)));
    }
}
