package io.understudy.mirror.verify;

import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.vocabulary.KeyValue;
import org.jspecify.annotations.Nullable;

/** One side's entries under their target names, in key order. */
interface SortedEntries {

    /** Returns the next entry; null after the last. */
    @Nullable KeyValue next() throws CompactedException, IncomparableException, InterruptedException;
}
