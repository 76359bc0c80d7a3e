/**
 * Finding or fetching etcd's programs.
 *
 * <p>{@link io.understudy.local.binary.EtcdBinaries#find} tries one {@link io.understudy.local.binary.BinarySource}
 * after the other: PATH, the user's cache, the official release, Debian's packages, etcd's Go modules. What is fetched
 * goes to the cache, whole or not at all.
 */
@NullMarked
package io.understudy.local.binary;

import org.jspecify.annotations.NullMarked;
