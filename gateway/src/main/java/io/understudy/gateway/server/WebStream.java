package io.understudy.gateway.server;

/** An answer in parts. On the event loop of its request; what comes after the client has gone is dropped. */
public interface WebStream {

    /** Whether the client takes more. What is written regardless piles up in memory. */
    boolean ready();

    /** Runs {@code task} once when the client takes more. One at a time. */
    void whenReady(Runnable task);

    void write(byte[] part);

    void end();
}
