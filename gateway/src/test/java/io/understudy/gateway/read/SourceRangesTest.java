package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.read.Answer.Provenance.Origin;
import io.understudy.gateway.read.SourceRange.SourceAnswer;
import io.understudy.gateway.read.SourceReads.SourceRanges;
import io.understudy.vocabulary.ClusterId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Ranges of a proxied transaction, with a source controlled by the test. */
final class SourceRangesTest {

    private static final List<RangeRequest> MANY = Collections.nCopies(4_096, RangeRequest.getDefaultInstance());

    private final List<Promise<SourceAnswer>> sent = new ArrayList<>();

    @Test
    void rangesAreReadAFewAtATimeAndReturnedInOrder() {
        var all = new SourceRanges(MANY.subList(0, 20), this::send).read();
        assertThat(sent).hasSize(8);
        sent.get(7).complete(answer(7));
        assertThat(sent).hasSize(9);
        sent.get(0).complete(answer(0));
        for (int i = 1; i < 20; i++) {
            if (i != 7) {
                sent.get(i).complete(answer(i));
            }
        }
        assertThat(all.result())
                .extracting(SourceAnswer::count)
                .startsWith(0L, 1L, 2L)
                .endsWith(19L);
    }

    @Test
    void theFirstFailureEndsTheRead() {
        var all = new SourceRanges(MANY, this::send).read();
        ApiException refusal = new ApiException(Status.Code.UNAVAILABLE, "away");
        sent.get(3).fail(refusal);
        assertThat(all.cause()).isSameAs(refusal);
        sent.get(0).complete(answer(0));
        assertThat(sent).hasSize(8);
    }

    @Test
    void noRangesYieldAnEmptyResult() {
        assertThat(new SourceRanges(List.of(), this::send).read().result()).isEmpty();
    }

    private Future<SourceAnswer> send(RangeRequest request) {
        Promise<SourceAnswer> promise = Promise.promise();
        sent.add(promise);
        return promise.future();
    }

    private static SourceAnswer answer(long count) {
        return new SourceAnswer(new ClusterId(1), 1, List.of(), false, count, Origin.LEARNER, 0);
    }
}
