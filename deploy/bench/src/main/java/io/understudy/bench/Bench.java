package io.understudy.bench;

/** A benchmark: starts its servers, measures, and stops them. */
public interface Bench extends AutoCloseable {

    /**
     * Starts the servers and measures.
     *
     * @throws BenchException not all went well, so that there are no figures
     */
    Experiment run() throws InterruptedException;

    /** Stops all servers; a run under way fails. Idempotent, for any thread. */
    @Override
    void close();
}
