/**
 * The etcd v3 API as plain functions: a request and a replica's state in, a response or one of etcd's errors out.
 * Independent of connections and threads.
 */
@NullMarked
package io.understudy.gateway.api;

import org.jspecify.annotations.NullMarked;
