/**
 * Access to one etcd cluster: connections, its members and their health, and which to use for a duty.
 *
 * <p>{@link io.understudy.etcd.EtcdCluster} is the entry point. It hands out plain gRPC channels, on which the
 * generated stubs of {@code io.etcd.jetcd.api} are used, and {@link io.understudy.etcd.EtcdCluster#endpointsFor
 * candidates} for each {@link io.understudy.etcd.Duty}; callers report back how it went, which moves endpoints that
 * fail to the end. {@link io.understudy.etcd.ClusterView} is an immutable picture that is replaced every second or so.
 *
 * <p>What differs between etcd's versions is in {@link io.understudy.etcd.EtcdVersion}; what its errors mean for the
 * caller is in {@link io.understudy.etcd.EtcdErrors}; nowhere else.
 */
@NullMarked
package io.understudy.etcd;

import org.jspecify.annotations.NullMarked;
