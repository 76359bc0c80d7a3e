/**
 * etcd's JSON mapping, as the gRPC gateway inside etcd translates requests and responses. The same methods serve gRPC
 * clients.
 */
@NullMarked
package io.understudy.gateway.json;

import org.jspecify.annotations.NullMarked;
