/**
 * Access to one etcd cluster: connections, members and their health, and endpoints per duty.
 *
 * <p>{@link io.understudy.etcd.EtcdCluster} is the entry point. It provides plain gRPC channels for the generated stubs
 * of {@code io.etcd.jetcd.api}, and {@link io.understudy.etcd.EtcdCluster#endpointsFor candidates} for each {@link
 * io.understudy.etcd.Duty}; callers report the outcome, which moves failing endpoints to the end. {@link
 * io.understudy.etcd.ClusterView} is an immutable view that is replaced every second or so.
 *
 * <p>The differences between etcd's versions are in {@link io.understudy.etcd.EtcdVersion} only; the meaning of its
 * errors for the caller is in {@link io.understudy.etcd.EtcdErrors} only.
 */
@NullMarked
package io.understudy.etcd;

import org.jspecify.annotations.NullMarked;
