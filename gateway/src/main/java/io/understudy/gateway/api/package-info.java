/**
 * The etcd v3 API as pure functions of a request and a replica's state. They return a response or one of etcd's errors.
 * Independent of connections and threads.
 */
@NullMarked
package io.understudy.gateway.api;

import org.jspecify.annotations.NullMarked;
