/**
 * etcd's own JSON mapping: requests as JSON in, answers as JSON out, as the gRPC gateway inside etcd translates them. The
 * same methods serve gRPC clients.
 */
@NullMarked
package io.understudy.gateway.json;

import org.jspecify.annotations.NullMarked;
