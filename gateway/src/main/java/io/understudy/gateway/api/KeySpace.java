package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * Keys as they were at one revision: what requests are evaluated against. Immutable. May hold a part of the key space
 * only; whoever evaluates a request has made sure that the part covers it.
 */
public interface KeySpace {

    /** At which this is how things were. */
    Revision revision();

    @Nullable Entry get(ByteString key);

    /** Number of keys inside {@code keys}. */
    long count(KeyRange keys);

    /** The entries inside {@code keys} in key order, the first {@code limit} of them. */
    Entries entries(KeyRange keys, long limit);

    /** The entries inside {@code keys}, the last one first, the first {@code limit} of them, at least one. */
    Entries descending(KeyRange keys, long limit);
}
