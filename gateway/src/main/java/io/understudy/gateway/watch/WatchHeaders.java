package io.understudy.gateway.watch;

import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The header of responses, encoded once for all of a revision. For one event loop. */
final class WatchHeaders {

    private static final byte HEADER = 1 << 3 | 2;

    private final ResponseHeaders headers;
    private final Supplier<@Nullable ClusterId> cluster;
    private long revision = -1;
    private long raftTerm;
    private byte[] encoded = {};

    /** @param cluster is known after the first snapshot, so before any watcher */
    WatchHeaders(ResponseHeaders headers, Supplier<@Nullable ClusterId> cluster) {
        this.headers = headers;
        this.cluster = cluster;
    }

    /** Returns the first field of a response; not to be changed. */
    byte[] of(long wanted) {
        long term = headers.raftTerm();
        if (wanted != revision || term != raftTerm) {
            byte[] content = headers.of(Objects.requireNonNull(cluster.get()), new Revision(wanted))
                    .toByteArray();
            encoded = new byte[2 + content.length];
            encoded[0] = HEADER;
            // At most four numbers of ten bytes and a tag each.
            encoded[1] = (byte) content.length;
            System.arraycopy(content, 0, encoded, 2, content.length);
            revision = wanted;
            raftTerm = term;
        }
        return encoded;
    }
}
