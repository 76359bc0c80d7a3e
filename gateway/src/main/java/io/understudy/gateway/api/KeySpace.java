package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * The keys at one revision, against which requests are evaluated. Immutable. May be a part of the key space; callers
 * ensure that it covers the request.
 */
public interface KeySpace {

    /** The revision of the keys. */
    Revision revision();

    /** As {@link AnswerBody#keep}, for a response with entries of it. */
    default Runnable keep(Runnable end) {
        return () -> {};
    }

    @Nullable Entry get(ByteString key);

    /** Number of keys inside {@code keys}. */
    long count(KeyRange keys);

    /** The entries inside {@code keys} in key order, the first {@code limit} of them. */
    Entries entries(KeyRange keys, long limit);

    /** The entries inside {@code keys} in descending order, the first {@code limit} (at least one) of them. */
    Entries descending(KeyRange keys, long limit);
}
