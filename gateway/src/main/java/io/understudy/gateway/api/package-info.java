/**
 * The etcd v3 API as plain functions: a request and a replica's state in, a response or one of etcd's errors out. Nothing
 * here knows of connections or threads.
 */
@NullMarked
package io.understudy.gateway.api;

import org.jspecify.annotations.NullMarked;
