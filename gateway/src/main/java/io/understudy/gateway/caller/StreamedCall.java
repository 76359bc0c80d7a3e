package io.understudy.gateway.caller;

/** A call with a stream of answers. Receives flow control of its {@link StreamTaker} on the session's event loop. */
public interface StreamedCall {

    /** The receiver is ready for more. */
    void takesMore();

    /** The receiver has disconnected. */
    void gone();
}
