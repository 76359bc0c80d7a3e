/**
 * etcd's {@code Watch} service, on the watch hub.
 *
 * <p>{@link io.understudy.gateway.watch.WatchStream} is what etcd's {@code v3rpc/watch.go} makes of a stream: many
 * watchers, in the order of their requests, whatever protocol carries it. {@link io.understudy.gateway.watch.WatchOutput}
 * is the protocol's part; that of gRPC is {@link io.understudy.gateway.watch.GrpcWatch}.
 */
@NullMarked
package io.understudy.gateway.watch;

import org.jspecify.annotations.NullMarked;
