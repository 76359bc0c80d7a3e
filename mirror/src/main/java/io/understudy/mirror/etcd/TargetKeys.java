package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.etcd.EtcdMessages;
import io.understudy.feed.etcd.PageBound;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over a cluster's keys in a range in key order, page by page.
 *
 * <p>Pages of the target need no common revision, since the mirror alone writes the range.
 */
final class TargetKeys implements Iterator<KeyValue> {

    /** Small enough for the largest values that etcd takes by default. */
    private static final int FIRST_PAGE_KEYS = 16;

    private static final int MAX_PAGE_KEYS = 4_096;
    private static final long PAGE_BYTES = 2L << 20;
    private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

    private final Function<RangeRequest, Optional<RangeResponse>> calls;
    private final KeyRange range;
    private final boolean keysOnly;
    private final long revision;
    private final Deque<KeyValue> page = new ArrayDeque<>();
    private PageBound bound = PageBound.NONE;
    private int pageKeys;
    /** Start of the next page; null after the last. */
    private @Nullable ByteString cursor;

    TargetKeys(TargetCalls calls, KeyRange range) {
        this(calls::tryRange, range, false, Revision.ZERO);
    }

    /** Returns keys without values, current or at a revision. */
    static TargetKeys withoutValues(TargetCalls calls, KeyRange range, Revision at) {
        return new TargetKeys(calls::tryRange, range, true, at);
    }

    /** @param calls gives a page, or nothing if it is more than can be received */
    TargetKeys(Function<RangeRequest, Optional<RangeResponse>> calls, KeyRange range, boolean keysOnly, Revision at) {
        this.keysOnly = keysOnly;
        this.revision = at.value();
        this.pageKeys = keysOnly ? MAX_PAGE_KEYS : FIRST_PAGE_KEYS;
        this.calls = calls;
        this.range = range;
        this.cursor = range.from();
    }

    @Override
    public boolean hasNext() {
        while (page.isEmpty() && cursor != null) {
            read(cursor);
        }
        return !page.isEmpty();
    }

    @Override
    public KeyValue next() {
        if (!hasNext()) {
            throw new NoSuchElementException("range has no more keys");
        }
        return page.remove();
    }

    private void read(ByteString from) {
        ByteString end = bound.of(from, pageKeys, pageKeys);
        if (end != null && range.to() != null && KeyRange.KEY_ORDER.compare(end, range.to()) >= 0) {
            end = null;
        }
        KeyRange rest = new KeyRange(from, end == null ? range.to() : end);
        Optional<RangeResponse> answered = calls.apply(EtcdMessages.range(rest)
                .setKeysOnly(keysOnly)
                .setRevision(revision)
                .setLimit(pageKeys)
                .build());
        if (answered.isEmpty()) {
            // Small keys before large values: the page may have been more than can be received.
            pageKeys = Math.max(1, pageKeys / 2);
            return;
        }
        RangeResponse answer = answered.get();
        page.addAll(answer.getKvsList());
        bound = end == null
                ? bound.afterOpen(answer.getKvsList(), answer.getMore() ? answer.getCount() - answer.getKvsCount() : 0)
                : bound.requested(pageKeys).after(answer.getKvsList(), pageKeys, answer.getMore());
        cursor = answer.getMore() ? page.getLast().getKey().concat(ZERO_BYTE) : end;
        long perKey = Math.max(1, answer.getSerializedSize() / Math.max(1, answer.getKvsCount()));
        pageKeys = (int) Math.max(1, Math.min(Math.min(MAX_PAGE_KEYS, pageKeys * 4L), PAGE_BYTES / perKey));
    }
}
