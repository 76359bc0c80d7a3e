package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * The ranges of one transaction, asked for a few at a time: one by one they would cost a round trip each, and there may
 * be thousands. What they hold together is bounded as one answer is. On the reader's event loop.
 */
final class SourceRanges {

    private static final int AT_A_TIME = 8;

    /** Of a message on the connections to the source. */
    private static final long MAX_BYTES = 64L << 20;

    private final List<RangeRequest> requests;
    private final Function<RangeRequest, Future<SourceAnswer>> ask;
    private final SourceAnswer[] answers;
    private final Promise<List<SourceAnswer>> promise = Promise.promise();
    private int asked;
    private int answered;
    private long bytes;

    SourceRanges(List<RangeRequest> requests, Function<RangeRequest, Future<SourceAnswer>> ask) {
        this.requests = requests;
        this.ask = ask;
        this.answers = new SourceAnswer[requests.size()];
    }

    /** Their answers, in the requests' order; fails with the first failure. */
    Future<List<SourceAnswer>> ask() {
        if (requests.isEmpty()) {
            return Future.succeededFuture(List.of());
        }
        for (int i = 0; i < AT_A_TIME; i++) {
            askNext();
        }
        return promise.future();
    }

    private void askNext() {
        if (asked == requests.size() || promise.future().isComplete()) {
            return;
        }
        int index = asked++;
        ask.apply(requests.get(index)).onComplete(result -> {
            if (result.failed()) {
                boolean unused = promise.tryFail(result.cause());
            } else {
                keep(index, result.result());
            }
        });
    }

    private void keep(int index, SourceAnswer answer) {
        answers[index] = answer;
        answered++;
        bytes += answer.wireBytes();
        if (bytes > MAX_BYTES) {
            boolean unused = promise.tryFail(new ApiException(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "understudy: transaction reads more than " + MAX_BYTES + " bytes from the source"));
        } else if (answered == answers.length) {
            boolean unused = promise.tryComplete(Arrays.asList(answers));
        } else {
            askNext();
        }
    }
}
