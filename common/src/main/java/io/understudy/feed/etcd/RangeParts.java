package io.understudy.feed.etcd;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Ranges in parts, each requested separately, several at a time, taken in key order. Not thread-safe.
 *
 * @param <R> a request for a part
 * @param <A> the response to one
 */
final class RangeParts<R, A> {

    /** One part: not requested, under way, or answered. */
    static final class Part<R, A> {
        private final KeyRange range;
        private @Nullable R request;
        private @Nullable A answer;

        private Part(KeyRange range) {
            this.range = range;
        }

        KeyRange range() {
            return range;
        }

        private boolean isUnrequested() {
            return request == null && answer == null;
        }
    }

    /** Parts that were not taken. */
    private final List<Part<R, A>> parts = new ArrayList<>();

    /** @param whole disjoint, in key order */
    RangeParts(List<KeyRange> whole) {
        whole.forEach(range -> parts.add(new Part<>(range)));
    }

    /** The first part that is not requested; null if there is none. */
    @Nullable Part<R, A> nextToRequest() {
        return parts.stream().filter(Part::isUnrequested).findFirst().orElse(null);
    }

    /** Whether all parts that can be taken wait for it. */
    boolean isFirst(@Nullable Part<R, A> part) {
        return parts.get(0) == part;
    }

    /** Ends the part at {@code end}; returns the rest as another part. */
    Part<R, A> cut(Part<R, A> part, ByteString end) {
        Part<R, A> begin = new Part<>(new KeyRange(part.range.from(), end));
        int index = parts.indexOf(part);
        parts.set(index, begin);
        parts.add(index + 1, new Part<>(new KeyRange(end, part.range.to())));
        return begin;
    }

    void requested(Part<R, A> part, R request) {
        part.request = request;
    }

    /** Makes the part available for another request. */
    void failed(Part<R, A> part) {
        part.request = null;
        part.answer = null;
    }

    /**
     * Keeps an answer until it is taken.
     *
     * @param restFrom start of the rest that the answer leaves to request; null if it is all there is in the part
     * @param answer made of what it covers
     */
    A answered(Part<R, A> part, @Nullable ByteString restFrom, Function<KeyRange, A> answer) {
        Part<R, A> known = part;
        if (restFrom != null && !restFrom.equals(part.range.to())) {
            known = cut(part, restFrom);
            join(parts.indexOf(known) + 1);
        }
        A made = answer.apply(known.range);
        known.request = null;
        known.answer = made;
        return made;
    }

    /**
     * Keeps an answer to a request that continues with the rest.
     *
     * @param restFrom start of that rest, inside the part
     */
    A continued(Part<R, A> part, ByteString restFrom, Function<KeyRange, A> answer) {
        R request = part.request;
        Part<R, A> begin = cut(part, restFrom);
        parts.get(parts.indexOf(begin) + 1).request = request;
        A made = answer.apply(begin.range);
        begin.answer = made;
        return made;
    }

    /** Adjacent parts that are not requested are requested together. */
    private void join(int index) {
        if (index + 1 < parts.size()
                && parts.get(index + 1).isUnrequested()
                && parts.get(index + 1)
                        .range
                        .from()
                        .equals(parts.get(index).range.to())) {
            Part<R, A> next = parts.remove(index + 1);
            parts.set(index, new Part<>(new KeyRange(parts.get(index).range.from(), next.range.to())));
        }
    }

    /** Removes and returns the answer for the first remaining keys; null until it is received. */
    @Nullable A take() {
        if (parts.isEmpty() || parts.get(0).answer == null) {
            return null;
        }
        return parts.remove(0).answer;
    }

    /** The part that a request is under way for; null once it ended or was dropped. */
    @Nullable Part<R, A> of(R request) {
        return parts.stream()
                .filter(part -> part.request == request)
                .findFirst()
                .orElse(null);
    }

    List<R> underWay() {
        return parts.stream().map(part -> part.request).filter(Objects::nonNull).toList();
    }

    /** Number of responses that wait to be taken. */
    int waiting() {
        return (int) parts.stream().filter(part -> part.answer != null).count();
    }

    /** Whether all is answered. */
    boolean isAnswered() {
        return parts.stream().allMatch(part -> part.answer != null);
    }

    /** Whether all is taken. */
    boolean isTaken() {
        return parts.isEmpty();
    }

    /** Drops all requests, and all responses that wait. */
    void forgetAll() {
        parts.forEach(this::failed);
    }
}
