/**
 * Real etcd clusters on this machine.
 *
 * <p>{@link io.understudy.local.etcd.LocalEtcd} is a cluster, {@link io.understudy.local.etcd.EtcdMember} one of its
 * members. Requests that steer a cluster go to its members directly, past the proxies that {@link
 * io.understudy.local.etcd.LocalEtcdBuilder#behindProxies} puts before them, so that a fault meets the test's traffic
 * and not the test's own tools.
 */
@NullMarked
package io.understudy.local.etcd;

import org.jspecify.annotations.NullMarked;
