/**
 * etcd's own JSON mapping: requests as JSON in, answers as JSON out, as the gRPC gateway inside etcd translates them. What
 * is asked is answered by the same methods that gRPC clients call.
 */
@NullMarked
package io.understudy.gateway.json;

import org.jspecify.annotations.NullMarked;
