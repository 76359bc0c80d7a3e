package io.understudy.gateway.trace;

import io.grpc.Metadata;
import io.netty.util.AsciiString;
import io.understudy.gateway.read.Answer;
import org.jspecify.annotations.Nullable;

/** The trace of one call; it never contains keys, values or users. For one thread at a time. */
public interface CallTrace {

    /** The trace of a call that is not traced. */
    CallTrace NONE = new CallTrace() {
        @Override
        public void answered(Answer<?> answer) {}

        @Override
        public void passOn(Metadata metadata) {}

        @Override
        public void end(int status) {}
    };

    /** Records the answer of a read. */
    void answered(Answer<?> answer);

    /** Makes the call with {@code metadata} a child of this one. */
    void passOn(Metadata metadata);

    /**
     * Ends the trace; called once.
     *
     * @param status of gRPC or of HTTP, depending on the tracer
     */
    void end(int status);

    /** Begins the traces of one method's calls. Thread-safe. */
    @FunctionalInterface
    interface CallTracer {

        /** Traces none. */
        CallTracer NONE = carrier -> CallTrace.NONE;

        /** Begins a call's trace, as a child of the context in its headers, if any. */
        CallTrace begin(Carrier carrier);
    }

    /** The headers of a request. */
    @FunctionalInterface
    interface Carrier {

        /** The first value. {@code name} is in lower case. */
        @Nullable CharSequence header(AsciiString name);
    }
}
