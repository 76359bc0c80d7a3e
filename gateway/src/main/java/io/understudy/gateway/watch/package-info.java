/**
 * etcd's {@code Watch} service, on the watch hub.
 *
 * <p>{@link io.understudy.gateway.watch.WatchStream} serves a stream as etcd's {@code v3rpc/watch.go}: many watchers,
 * in the order of their requests, over any protocol. {@link io.understudy.gateway.watch.WatchOutput} is the protocol's
 * part, {@link io.understudy.gateway.watch.GrpcWatch} that of gRPC.
 */
@NullMarked
package io.understudy.gateway.watch;

import org.jspecify.annotations.NullMarked;
