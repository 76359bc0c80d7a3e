package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.vocabulary.ClusterId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The ranges of a transaction that is passed through, with a source that answers when the test says so. */
final class SourceRangesTest {

    private static final List<RangeRequest> MANY = Collections.nCopies(4_096, RangeRequest.getDefaultInstance());

    private final List<Promise<SourceAnswer>> asked = new ArrayList<>();

    @Test
    void areAskedForAFewAtATimeAndAnsweredInOrder() {
        var all = new SourceRanges(MANY.subList(0, 20), this::ask).read();
        assertThat(asked).hasSize(8);
        asked.get(7).complete(answer(7));
        assertThat(asked).hasSize(9);
        asked.get(0).complete(answer(0));
        for (int i = 1; i < 20; i++) {
            if (i != 7) {
                asked.get(i).complete(answer(i));
            }
        }
        assertThat(all.result())
                .extracting(SourceAnswer::count)
                .startsWith(0L, 1L, 2L)
                .endsWith(19L);
    }

    @Test
    void failAtOnceHoweverManyThereAre() {
        var all = new SourceRanges(MANY, this::ask).read();
        ApiException refusal = new ApiException(Status.Code.UNAVAILABLE, "away");
        asked.get(3).fail(refusal);
        assertThat(all.cause()).isSameAs(refusal);
        asked.get(0).complete(answer(0));
        assertThat(asked).hasSize(8);
    }

    @Test
    void noneAreAnsweredByNothing() {
        assertThat(new SourceRanges(List.of(), this::ask).read().result()).isEmpty();
    }

    private Future<SourceAnswer> ask(RangeRequest request) {
        Promise<SourceAnswer> promise = Promise.promise();
        asked.add(promise);
        return promise.future();
    }

    private static SourceAnswer answer(long count) {
        return new SourceAnswer(new ClusterId(1), 1, List.of(), false, count, Origin.LEARNER);
    }
}
