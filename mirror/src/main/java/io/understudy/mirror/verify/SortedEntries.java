package io.understudy.mirror.verify;

import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.vocabulary.KeyValue;
import org.jspecify.annotations.Nullable;

/** One side's keys as the target calls them, in key order. */
interface SortedEntries {

    /** The next; null after the last. */
    @Nullable KeyValue next() throws CompactedException, IncomparableException, InterruptedException;
}
