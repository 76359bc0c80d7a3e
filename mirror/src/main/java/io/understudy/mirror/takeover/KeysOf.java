package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The keys that a cluster has in some ranges, read page by page, each as it is then. One thread. */
final class KeysOf {

    /** etcd reads the values, too, though it doesn't send them. */
    private static final int PAGE_KEYS = 1_000;

    private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

    private final PatientCalls cluster;
    private final UnaryOperator<ByteString> named;
    /** What is still to be read. */
    private final Deque<KeyRange> ranges;

    private final Deque<ByteString> page = new ArrayDeque<>();

    /**
     * @param ranges disjoint, in key order
     * @param named what a key is called here
     */
    KeysOf(PatientCalls cluster, Collection<KeyRange> ranges, UnaryOperator<ByteString> named) {
        this.cluster = cluster;
        this.ranges = new ArrayDeque<>(ranges);
        this.named = named;
    }

    /** The next; null after the last. */
    @Nullable ByteString next() {
        while (page.isEmpty() && !ranges.isEmpty()) {
            read(ranges.remove());
        }
        ByteString key = page.poll();
        return key == null ? null : named.apply(key);
    }

    private void read(KeyRange range) {
        RangeResponse found = cluster.range(RangeRequest.newBuilder()
                .setKey(range.etcdKey())
                .setRangeEnd(range.etcdRangeEnd())
                .setKeysOnly(true)
                .setLimit(PAGE_KEYS)
                .build());
        found.getKvsList().stream().map(KeyValue::getKey).forEach(page::add);
        if (found.getMore()) {
            ranges.addFirst(new KeyRange(page.getLast().concat(ZERO_BYTE), range.to()));
        }
    }
}
