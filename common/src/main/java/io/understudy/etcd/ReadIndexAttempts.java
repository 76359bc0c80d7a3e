package io.understudy.etcd;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Single attempts to get a revision that a quorum has confirmed.
 *
 * <p>A voter or a gateway serves a linearizable read of one key. A learner refuses that, but {@code GET
 * /readyz/linearizable_read} on its client port answers only after it has applied a read index that the quorum
 * confirmed. A serializable read on the same learner afterwards is then linearizable, and none of it uses a voter's
 * client port. For the network thread, on which responses arrive too.
 *
 * <p>Invariant E10: with a learner, read indexes use no voter's client port; without a quorum they fail by their
 * deadline.
 */
final class ReadIndexAttempts {

    private static final String READY = "/readyz/linearizable_read";

    private static final int HTTP_OK = 200;

    /** Between two connections to a voter, if none is used successfully meanwhile. */
    private static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Function<Endpoint, Channel> channels;
    /** One key is named, so that nothing is counted. */
    private final RangeRequest oneKey;

    private final RangeRequest oneKeyHere;
    private final KeptConnections<Integer> pages;
    /** Null where calls require a token. */
    private final @Nullable KeptConnections<byte[]> ranges;

    private final byte[] encoded;
    private final byte[] encodedHere;
    private final Map<Endpoint, Opening> openings = new HashMap<>();

    private final Supplier<ClusterView> view;

    /**
     * @param pages by {@link HttpStatuses}
     * @param ranges by {@link UnaryCalls}; null to use only {@code channels}
     * @param readable starts with the key to read, whether it exists or not
     * @param valued whether that key is read with its value, which must be small
     */
    ReadIndexAttempts(
            Function<Endpoint, Channel> channels,
            KeptConnections<Integer> pages,
            @Nullable KeptConnections<byte[]> ranges,
            KeyRange readable,
            boolean valued,
            Supplier<ClusterView> view) {
        this.channels = channels;
        this.oneKey = RangeRequest.newBuilder()
                .setKey(readable.etcdKey())
                .setCountOnly(!valued)
                .build();
        this.oneKeyHere = oneKey.toBuilder().setSerializable(true).build();
        this.encoded = oneKey.toByteArray();
        this.encodedHere = oneKeyHere.toByteArray();
        this.pages = pages;
        this.ranges = ranges;
        this.view = view;
    }

    /**
     * Makes one attempt, by the method that the endpoint's member supports.
     *
     * @param moreFollow soon, for which another connection to a voter is worth its cost
     */
    CompletableFuture<ReadIndex> at(Endpoint endpoint, Duration deadline, boolean moreFollow) {
        long sentNanos = System.nanoTime();
        return view.get()
                .memberAt(endpoint)
                .filter(member -> member.role() == Role.LEARNER)
                .map(learner -> atLearner(endpoint, learner.id(), deadline, sentNanos))
                .orElseGet(() -> atVoter(endpoint, deadline, moreFollow, sentNanos));
    }

    private CompletableFuture<ReadIndex> atVoter(
            Endpoint endpoint, Duration deadline, boolean moreFollow, long sentNanos) {
        CompletableFuture<RangeResponse> read = moreFollow && ranges != null
                ? rangeOfSeries(ranges, endpoint, deadline, sentNanos)
                : range(endpoint, oneKey, deadline);
        return read.thenApply(answer -> index(endpoint, answer, sentNanos));
    }

    /**
     * Over a free connection of {@link #ranges}, which is faster than the channel. No attempt waits for one to be
     * established, or fails with it.
     */
    private CompletableFuture<RangeResponse> rangeOfSeries(
            KeptConnections<byte[]> ranges, Endpoint endpoint, Duration deadline, long sentNanos) {
        Opening opening = openings.computeIfAbsent(endpoint, first -> new Opening(sentNanos));
        if (opening.used) {
            return range(endpoint, oneKey, deadline);
        }
        if (!ranges.isFree(endpoint)) {
            if (sentNanos - opening.nextNanos >= 0) {
                opening.nextNanos = sentNanos + opening.pauseNanos;
                opening.pauseNanos = Math.min(2 * opening.pauseNanos, LONGEST_PAUSE_NANOS);
                opening.using(ranges.call(endpoint, encodedHere, deadline));
            }
            return range(endpoint, oneKey, deadline);
        }
        CompletableFuture<byte[]> direct = ranges.callFree(endpoint, encoded, deadline);
        opening.using(direct);
        CompletableFuture<RangeResponse> answered = direct.thenApply(answer -> {
            opening.pauseNanos = FIRST_PAUSE_NANOS;
            return decoded(answer);
        });
        return answered.exceptionallyCompose(failure -> failure.getCause() instanceof IOException
                ? range(endpoint, oneKey, deadline.minusNanos(System.nanoTime() - sentNanos))
                : answered);
    }

    /** When the connection to a voter or gateway may be opened. There is one at most. */
    private static final class Opening {
        private long nextNanos;
        private long pauseNanos = FIRST_PAUSE_NANOS;
        /** Whether a call is under way on it, or it is being established. */
        private boolean used;

        Opening(long nextNanos) {
            this.nextNanos = nextNanos;
        }

        void using(CompletableFuture<?> call) {
            used = true;
            Calls.whenDone(call, (answer, failure) -> used = false);
        }
    }

    private CompletableFuture<ReadIndex> atLearner(
            Endpoint endpoint, MemberId learner, Duration deadline, long sentNanos) {
        return pages.call(endpoint, READY, deadline).thenCompose(status -> {
            if (status != HTTP_OK) {
                throw new ReadIndexRefusedException(endpoint + " is not ready: HTTP " + status);
            }
            Duration left = deadline.minusNanos(System.nanoTime() - sentNanos);
            return rangeHere(endpoint, left).thenApply(answer -> {
                ReadIndex index = index(endpoint, answer, sentNanos);
                if (!index.servedBy().equals(learner)) {
                    throw new ReadIndexRefusedException(
                            endpoint + " reached member " + index.servedBy() + ", expected learner " + learner);
                }
                return index;
            });
        });
    }

    private CompletableFuture<RangeResponse> rangeHere(Endpoint endpoint, Duration deadline) {
        return ranges == null
                ? range(endpoint, oneKeyHere, deadline)
                : ranges.call(endpoint, encodedHere, deadline).thenApply(ReadIndexAttempts::decoded);
    }

    private static RangeResponse decoded(byte[] answer) {
        try {
            return RangeResponse.parseFrom(answer);
        } catch (InvalidProtocolBufferException e) {
            throw new ReadIndexRefusedException("invalid range response: " + e.getMessage());
        }
    }

    private CompletableFuture<RangeResponse> range(Endpoint endpoint, RangeRequest request, Duration deadline) {
        // Callbacks are short: another thread would cost more than they do.
        return Calls.unary(
                channels.apply(endpoint),
                KVGrpc.getRangeMethod(),
                request,
                deadline,
                CallOptions.DEFAULT.withExecutor(Runnable::run));
    }

    /**
     * The read index of the response, if it is of the expected cluster. An address can pass to a member of another
     * cluster before a probe notices. At first the cluster of a configured one is unknown.
     */
    private ReadIndex index(Endpoint endpoint, RangeResponse answer, long sentNanos) {
        ClusterId cluster = new ClusterId(answer.getHeader().getClusterId());
        ClusterId expected = view.get().clusterId();
        if (expected == null) {
            throw new UnidentifiedException(
                    endpoint + " reached cluster " + cluster + ", but the expected cluster ID is not known yet");
        }
        if (!cluster.equals(expected)) {
            throw new ReadIndexRefusedException(
                    endpoint + " reached cluster " + cluster + ", expected cluster " + expected);
        }
        return new ReadIndex(
                new Revision(answer.getHeader().getRevision()),
                cluster,
                new MemberId(answer.getHeader().getMemberId()),
                sentNanos,
                answer.getKvsCount() == 0 ? null : EtcdMessages.keyValue(answer.getKvs(0)));
    }

    /** An endpoint answered, but not with a read index. */
    static final class ReadIndexRefusedException extends RuntimeException {
        ReadIndexRefusedException(String message) {
            super(message);
        }
    }

    /** An endpoint responded before the cluster ID was known; does not count as its failure. */
    static final class UnidentifiedException extends RuntimeException {
        UnidentifiedException(String message) {
            super(message);
        }
    }
}
