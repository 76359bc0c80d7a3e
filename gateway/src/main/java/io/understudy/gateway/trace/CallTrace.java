package io.understudy.gateway.trace;

import io.grpc.Metadata;
import io.understudy.gateway.read.Answer;

/** What is told of one call to who traces it: never keys, values, or who asks. For one thread at a time. */
public interface CallTrace {

    /** Of a call that nobody traces. */
    CallTrace NONE = new CallTrace() {
        @Override
        public void answered(Answer<?> answer) {}

        @Override
        public void passOn(Metadata metadata) {}

        @Override
        public void end(int status) {}
    };

    /** It was answered by a read. */
    void answered(Answer<?> answer);

    /** Has whoever is called with {@code metadata} trace that call as a part of this one. */
    void passOn(Metadata metadata);

    /**
     * It is over; to be called once.
     *
     * @param status gRPC's, or HTTP's, as the tracer has it that began this
     */
    void end(int status);
}
