package io.understudy.local.process;

import java.util.Map;

/** Servers that run as one: an etcd cluster, or a Kafka broker. */
public interface LocalServers extends AutoCloseable {

    /** Starts all of them with their data and waits until they serve. Undoes itself on failure. */
    void start();

    /** Undoes all faults: of proxies, paused servers continue, ended ones start; waits until all serve. */
    void mend();

    /**
     * Empties them for another user.
     *
     * @return false if that is impossible: other processes run than at the start, roles have changed, or authentication
     *     is enabled; then they are only to be closed
     */
    boolean reset();

    /** The log of each server by its name. */
    Map<String, ServerLog> logs();

    /** Kills what still runs and frees the ports; the data stays. Idempotent. */
    @Override
    void close();
}
