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
 * Reads the ranges of one transaction, a few at a time to save round trips. Their total size is bounded like one
 * response. Confined to the reader's event loop.
 */
final class SourceRanges {

    private static final int AT_A_TIME = 8;

    /** Message limit of connections to the source. */
    private static final long MAX_BYTES = 64L << 20;

    private final List<RangeRequest> requests;
    private final Function<RangeRequest, Future<SourceAnswer>> read;
    private final SourceAnswer[] answers;
    private final Promise<List<SourceAnswer>> promise = Promise.promise();
    private int sent;
    private int answered;
    private long bytes;

    SourceRanges(List<RangeRequest> requests, Function<RangeRequest, Future<SourceAnswer>> read) {
        this.requests = requests;
        this.read = read;
        this.answers = new SourceAnswer[requests.size()];
    }

    /** Returns the answers in the order of the requests; fails with the first failure. */
    Future<List<SourceAnswer>> read() {
        if (requests.isEmpty()) {
            return Future.succeededFuture(List.of());
        }
        for (int i = 0; i < AT_A_TIME; i++) {
            readNext();
        }
        return promise.future();
    }

    private void readNext() {
        if (sent == requests.size() || promise.future().isComplete()) {
            return;
        }
        int index = sent++;
        read.apply(requests.get(index)).onComplete(result -> {
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
            readNext();
        }
    }
}
