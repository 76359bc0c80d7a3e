package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The keys that a cluster has in some ranges, read page by page, each as it is then. One thread. */
final class KeysOf {

    private static final int MOST_KEYS = 1_000;

    private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

    private final PatientCalls cluster;
    private final UnaryOperator<ByteString> named;
    /** What is still to be read. */
    private final Deque<KeyRange> ranges;

    private final Deque<ByteString> page = new ArrayDeque<>();
    private int pageKeys = MOST_KEYS;

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
        RangeResponse found = answered(range);
        found.getKvsList().stream().map(KeyValue::getKey).forEach(page::add);
        if (found.getMore()) {
            ranges.addFirst(new KeyRange(page.getLast().concat(ZERO_BYTE), range.to()));
        }
    }

    /** etcd reads the values, too, though it doesn't send them: a page of large ones may not come in time. */
    private RangeResponse answered(KeyRange range) {
        while (pageKeys > 1) {
            try {
                RangeResponse found = asked(cluster.with(Duration.ZERO), range);
                pageKeys = Math.min(MOST_KEYS, pageKeys * 2);
                return found;
            } catch (TakeOverException e) {
                if (Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                pageKeys /= 2;
            }
        }
        RangeResponse found = asked(cluster, range);
        pageKeys = 2;
        return found;
    }

    private RangeResponse asked(PatientCalls asked, KeyRange range) {
        return asked.range(RangeRequest.newBuilder()
                .setKey(range.etcdKey())
                .setRangeEnd(range.etcdRangeEnd())
                .setKeysOnly(true)
                .setLimit(pageKeys)
                .build());
    }
}
