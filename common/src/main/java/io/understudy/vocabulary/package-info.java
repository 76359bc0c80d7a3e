/**
 * The words every module speaks: revisions, key ranges, changes, commits, positions and watermarks.
 *
 * <p>All types are immutable values. Keys and values are bytes ({@link com.google.protobuf.ByteString}), never
 * strings, ordered as unsigned bytes like etcd orders them.
 */
@NullMarked
package io.understudy.vocabulary;

import org.jspecify.annotations.NullMarked;
