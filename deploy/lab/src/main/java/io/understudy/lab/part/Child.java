package io.understudy.lab.part;

import io.understudy.lab.failure.LabException;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import java.util.function.Supplier;

/**
 * A process of a part.
 *
 * @param name displayed name
 * @param process the current process
 * @param again starts it once more with the same data, without waiting until it serves
 */
public record Child(String name, Supplier<ServerProcess> process, Runnable again) {

    private static final int LOG_LINES = 12;

    static Child of(ServerProcess process) {
        return new Child(process.name(), () -> process, process::start);
    }

    /** Returns the failure of the lab, with the end of the child's log. */
    public LabException failure(String how) {
        ServerLog log = process.get().log();
        return new LabException(name + " " + how + "; end of its log " + log.file() + ":\n  "
                + String.join("\n  ", log.tail(LOG_LINES)));
    }
}
