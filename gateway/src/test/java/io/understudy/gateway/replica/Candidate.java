package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A structure that a replica could keep its entries in: immutable, a changed one shares what it can. */
interface Candidate {

    @Nullable Entry get(ByteString key);

    /** Applies the puts of one commit, each encoded first. */
    Candidate put(List<Change.Put> commit);

    /** Copies the encodings of the first {@code limit} entries from {@code from} on; returns their size. */
    int copy(ByteString from, int limit, byte[] out);
}
