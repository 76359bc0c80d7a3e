package io.understudy.gateway.caller;

/** A call that is answered by a stream; told, on the session's event loop, what becomes of its {@link StreamTaker}. */
public interface StreamedCall {

    /** It takes more. */
    void takesMore();

    /** It takes nothing any more. */
    void gone();
}
