package io.understudy.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Channel;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * One etcd cluster: its members, connections to them, and which of them to ask for what.
 *
 * <p>All methods may be called from any thread; none waits for the network except {@link #close}.
 */
public final class EtcdCluster implements AutoCloseable {

    private final EtcdSettings settings;
    private final Channels channels;
    private volatile ClusterView view;

    private EtcdCluster(EtcdSettings settings) {
        this.settings = settings;
        this.channels = new Channels(settings.requestTimeout());
        this.view = ClusterView.initial(settings.seeds());
    }

    /** Begins to connect; returns at once. Whether anyone answers shows in {@link #view}. */
    public static EtcdCluster connect(EtcdSettings settings, MeterRegistry meters) {
        return new EtcdCluster(settings);
    }

    public EtcdSettings settings() {
        return settings;
    }

    /** What is known now. */
    public ClusterView view() {
        return view;
    }

    /**
     * Whom to ask for {@code duty}, best first: those that serve it at the least cost to the voters, then the others;
     * endpoints that failed recently, or don't answer, come last. Endpoints that can't serve the duty are left out.
     *
     * @return empty only when no endpoint at all may be used, see {@link ClusterView#foreign}
     */
    public List<Endpoint> endpointsFor(Duty duty) {
        return view.unidentified();
    }

    /**
     * The connection to an endpoint, shared by all callers; calls on it need their own deadlines. Closed some time after
     * the endpoint left the cluster: calls then fail as unavailable.
     */
    public Channel channel(Endpoint endpoint) {
        return channels.get(endpoint);
    }

    /** The endpoint did what it was asked for: whatever it failed at before is forgiven. */
    public void reportSuccess(Endpoint endpoint, Duty duty) {}

    /**
     * The endpoint failed at the duty; it moves to the end for a while, longer with each failure in a row, unless the
     * failure is the caller's own fault.
     *
     * @return what the failure means
     */
    public EtcdFailure reportFailure(Endpoint endpoint, Duty duty, Throwable failure) {
        return EtcdErrors.classify(duty, failure);
    }

    /**
     * The endpoint failed at the duty in a way that no status tells, such as a stream that fell silent.
     *
     * @param reason for the log
     */
    public void reportFailure(Endpoint endpoint, Duty duty, String reason) {}

    /**
     * A revision confirmed by a quorum after this call, by the cheapest way there is.
     *
     * @param deadline for everything together; each attempt gets a part of it
     * @return fails with an {@link EtcdUnavailableException} if nobody could confirm one in time
     */
    public CompletableFuture<ReadIndex> readIndex(Duration deadline) {
        Instant sentAt = Instant.now();
        Endpoint endpoint = endpointsFor(Duty.READ_INDEX).get(0);
        CompletableFuture<ReadIndex> result = new CompletableFuture<>();
        KVGrpc.newStub(channel(endpoint))
                .withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)
                .range(
                        RangeRequest.newBuilder()
                                .setKey(ByteString.copyFrom(new byte[] {0}))
                                .setCountOnly(true)
                                .build(),
                        new StreamObserver<>() {
                            @Override
                            public void onNext(RangeResponse answer) {
                                result.complete(new ReadIndex(
                                        new Revision(answer.getHeader().getRevision()),
                                        new ClusterId(answer.getHeader().getClusterId()),
                                        new MemberId(answer.getHeader().getMemberId()),
                                        answer.getHeader().getRaftTerm(),
                                        sentAt));
                            }

                            @Override
                            public void onError(Throwable failure) {
                                result.completeExceptionally(new EtcdUnavailableException(
                                        "no read index from " + endpoint + ": " + failure.getMessage(), failure));
                            }

                            @Override
                            public void onCompleted() {}
                        });
        return result;
    }

    /** Ends every call and connection; waits a few seconds at most. Idempotent. */
    @Override
    public void close() {
        channels.close();
    }
}
