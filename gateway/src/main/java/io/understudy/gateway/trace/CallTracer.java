package io.understudy.gateway.trace;

/** Begins the traces of one method's calls. Thread-safe. */
@FunctionalInterface
public interface CallTracer {

    /** Traces none. */
    CallTracer NONE = carrier -> CallTrace.NONE;

    /** Begins a call's trace, as a child of the context in its headers, if any. */
    CallTrace begin(Carrier carrier);
}
