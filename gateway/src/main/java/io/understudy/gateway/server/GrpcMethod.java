package io.understudy.gateway.server;

/** A method that is served over gRPC. */
public sealed interface GrpcMethod permits UnaryMethod, CallMethod {

    /** Such as {@code etcdserverpb.KV/Range}. */
    String fullName();
}
