package io.understudy.gateway.trace;

/** Begins the traces of one method's calls. For any thread. */
@FunctionalInterface
public interface CallTracer {

    /** Traces none. */
    CallTracer NONE = carrier -> CallTrace.NONE;

    /** Begins the trace of a call, as a child of what its headers name, if they do. */
    CallTrace begin(Carrier carrier);
}
