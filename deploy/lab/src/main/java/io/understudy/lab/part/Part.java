package io.understudy.lab.part;

import io.understudy.lab.failure.LabException;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import java.util.List;
import java.util.function.Supplier;

/** Something the lab starts, watches and stops: one or several server processes that belong together. */
public interface Part {

    /** Name for people. */
    String name();

    /**
     * Starts it, reports its progress, and returns when it serves. Interruptible.
     *
     * @throws io.understudy.lab.failure.LabException it ended or does not serve in time; the message has the end of its
     *     log
     */
    void start() throws Exception;

    /** Returns its processes after the start. Any thread. */
    List<Child> children();

    /** Ends its processes in order, however far it has come; returns when they are gone. */
    void stop();

    /**
     * A process of a part.
     *
     * @param name displayed name
     * @param process the current process
     * @param again starts it once more with the same data, without waiting until it serves
     */
    record Child(String name, Supplier<ServerProcess> process, Runnable again) {

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
}
