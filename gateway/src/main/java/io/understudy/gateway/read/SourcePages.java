package io.understudy.gateway.read;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.understudy.etcd.EtcdErrors;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.read.SourceRange.SourceAnswer;
import io.understudy.gateway.read.Upstream.LargerResponse;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads one range of the source in pages of one revision, as large as a response may be. The first page, of few keys,
 * shows how many bytes the whole needs. Confined to the reader's event loop.
 */
final class SourcePages {

    private static final long FIRST_KEYS = 1_000;

    /** Aimed at. Few pages, since etcd counts the rest of the range for each; later values may be twice as large. */
    private static final long PAGE_BYTES = SourceReads.MOST_BYTES / 2;

    private final RangeRequest whole;
    private final long limit;
    private final long room;
    private final long largest;
    private final BiFunction<RangeRequest, @Nullable SourceAnswer, Future<SourceAnswer>> read;
    private final List<Entry> entries = new ArrayList<>();
    private final Promise<SourceAnswer> promise = Promise.promise();
    private @Nullable SourceAnswer first;
    private long bytes;
    /** Limit of the next page. */
    private long keys = FIRST_KEYS;

    /**
     * @param whole requests the first keys of a range, in their order
     * @param room bytes that are reserved for the response
     * @param largest bytes that can be reserved
     * @param read reads a page; its second argument is the first page, null before
     */
    SourcePages(
            RangeRequest whole,
            long room,
            long largest,
            BiFunction<RangeRequest, @Nullable SourceAnswer, Future<SourceAnswer>> read) {
        // etcd reads all keys if an order is requested.
        this.whole = whole.toBuilder().clearSortOrder().clearSortTarget().build();
        this.limit = whole.getLimit() > 0 ? whole.getLimit() : Long.MAX_VALUE;
        this.room = room;
        this.largest = largest;
        this.read = read;
    }

    /** Fails with a {@link LargerResponse} if more bytes have to be reserved. */
    Future<SourceAnswer> read() {
        readNext(whole.getKey());
        return promise.future();
    }

    private void readNext(ByteString from) {
        long requested = Math.min(keys, limit - entries.size());
        RangeRequest.Builder page = whole.toBuilder().setKey(from).setLimit(requested);
        if (first != null && whole.getRevision() <= 0) {
            page.setRevision(first.revision());
        }
        read.apply(page.build(), first).onComplete(result -> {
            if (result.succeeded()) {
                keep(result.result());
            } else if (requested > 1 && isTooLarge(result.cause())) {
                keys = requested / 2;
                readNext(from);
            } else {
                promise.fail(result.cause());
            }
        });
    }

    private static boolean isTooLarge(Throwable why) {
        return why instanceof ApiException refusal
                && EtcdErrors.isMessageTooLarge(Status.fromCode(refusal.code()).withDescription(refusal.text()));
    }

    private void keep(SourceAnswer page) {
        SourceAnswer begin = first == null ? page : first;
        first = begin;
        entries.addAll(page.entries());
        bytes += page.bytes();
        if (!page.more() || page.entries().isEmpty() || entries.size() >= limit) {
            promise.complete(new SourceAnswer(
                    begin.cluster(), begin.revision(), entries, page.more(), begin.count(), begin.origin(), bytes));
            return;
        }
        long perKey = page.bytes() / page.entries().size() + 1;
        long estimate = bytes + perKey * (Math.min(limit, begin.count()) - entries.size());
        if (bytes > largest) {
            promise.fail(new ApiException(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "understudy: response from the source exceeds " + largest
                            + " bytes; raise reads.maxPassedThroughBytes and the heap, or read less"));
        } else if (Math.min(estimate, largest) > room) {
            // Somewhat more, since it is an estimate.
            promise.fail(new LargerResponse(Math.min(estimate + estimate / 4, largest)));
        } else {
            keys = Math.max(1, PAGE_BYTES / perKey);
            readNext(KeyRange.successor(
                    page.entries().get(page.entries().size() - 1).key()));
        }
    }
}
