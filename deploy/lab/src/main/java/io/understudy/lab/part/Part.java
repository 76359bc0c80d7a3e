package io.understudy.lab.part;

import java.util.List;

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
}
