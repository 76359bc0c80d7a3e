package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.stub.AbstractBlockingStub;
import io.grpc.stub.MetadataUtils;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.ReadIndex;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls on the voters of one cluster, for what has to be certain rather than fast. Each attempt has the cluster's
 * request timeout; a failed one is repeated elsewhere until the patience is over. So everything asked for here must be
 * safe to do twice.
 *
 * <p>Blocking; one thread.
 */
public final class PatientCalls {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final EtcdCluster cluster;
    private final @Nullable Credentials credentials;
    private final Duration patience;
    private final ClusterCalls calls;
    private final String name;

    /**
     * Calls on {@code cluster}, which stays the caller's to close.
     *
     * @param credentials null for none, or those of the certificate
     * @param patience for how long a call is repeated that isn't answered
     */
    public PatientCalls(EtcdCluster cluster, @Nullable Credentials credentials, Duration patience) {
        this(cluster, credentials, patience, cluster.settings().name());
    }

    private PatientCalls(EtcdCluster cluster, @Nullable Credentials credentials, Duration patience, String name) {
        this.name = name;
        this.cluster = cluster;
        this.credentials = credentials;
        this.patience = patience;
        this.calls = new ClusterCalls(cluster, Duty.WRITE, cluster.settings().requestTimeout());
    }

    /** The cluster in words. */
    String shown() {
        return name + " " + cluster.settings().endpoints();
    }

    EtcdCluster cluster() {
        return cluster;
    }

    /** The same cluster, called something else in words. */
    PatientCalls named(String otherName) {
        return new PatientCalls(cluster, credentials, patience, otherName);
    }

    /** The same cluster, given up sooner or later. */
    PatientCalls with(Duration otherPatience) {
        return new PatientCalls(cluster, credentials, otherPatience, name);
    }

    /** A linearizable read. */
    public RangeResponse range(RangeRequest request) {
        return call("a read", KVGrpc::newBlockingStub, stub -> stub.range(request));
    }

    /** A transaction that may be done twice, since it compares what it changes. */
    public TxnResponse txn(String what, TxnRequest request) {
        return call(what, KVGrpc::newBlockingStub, stub -> stub.txn(request));
    }

    /** One key, read linearizably; empty if there is none. */
    Optional<KeyValue> get(ByteString key) {
        return range(RangeRequest.newBuilder().setKey(key).build()).getKvsList().stream()
                .findFirst();
    }

    /** A revision confirmed by a quorum after this call. */
    ReadIndex head() {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            Duration left = Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
            try {
                return cluster.readIndex(left).get(left.toMillis() + 1_000, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                throw interrupted(e);
            } catch (ExecutionException | TimeoutException e) {
                // A round fails as soon as all members have, perhaps before any of them was connected to.
                if (System.nanoTime() > deadline) {
                    throw new TakeOverException(
                            shown() + " confirmed no revision within " + patience.toMillis() + " ms", e);
                }
            }
            pause(PAUSE);
        }
    }

    /**
     * Calls, and again until it is answered.
     *
     * @param what is asked, for errors
     * @throws TakeOverException refused, or not answered in time
     */
    public <S extends AbstractBlockingStub<S>, T> T call(String what, Function<Channel, S> stubs, Function<S, T> call) {
        return patiently(what, () -> calls.call(channel -> call.apply(within(stubs.apply(authenticated(channel))))));
    }

    /** Keeps leases alive once; those that are gone stay so. */
    void keepAlive(List<Long> leases) {
        var unused = patiently("leases to be kept alive", () -> {
            calls.keepAlive(leases, (lease, seconds) -> {});
            return true;
        });
    }

    /** The connection, carrying the credentials' token. Who calls is ready for a failed call. */
    Channel authenticated(Channel channel) {
        if (credentials == null) {
            return channel;
        }
        return tokened(channel, tokenFrom(channel));
    }

    /** A connection to {@code member}, which perhaps issues no tokens itself: a learner takes those of voters. */
    Channel authenticatedElsewhere(Channel member) {
        if (credentials == null) {
            return member;
        }
        String token = patiently("a token", () -> calls.call(this::tokenFrom));
        return tokened(member, token);
    }

    private String tokenFrom(Channel channel) {
        if (credentials == null) {
            throw new IllegalStateException("no credentials");
        }
        // The member list names whom it likes.
        cluster.endpointsFor(Duty.WRITE).stream()
                .filter(endpoint -> !cluster.settings().mayLogInAt(endpoint))
                .findFirst()
                .ifPresent(endpoint -> {
                    throw new TakeOverException(
                            "a password would be sent in plain text to " + endpoint
                                    + ", another machine that only the member list names; use https, or name it among the endpoints");
                });
        return within(AuthGrpc.newBlockingStub(channel))
                .authenticate(AuthenticateRequest.newBuilder()
                        .setName(credentials.user())
                        .setPassword(credentials.password())
                        .build())
                .getToken();
    }

    private static Channel tokened(Channel channel, String token) {
        Metadata headers = new Metadata();
        headers.put(TOKEN, token);
        return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private <S extends AbstractBlockingStub<S>> S within(S stub) {
        return stub.withDeadlineAfter(cluster.settings().requestTimeout().toNanos(), TimeUnit.NANOSECONDS);
    }

    private <T> T patiently(String what, Attempt<T> attempt) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                return attempt.run();
            } catch (InterruptedException e) {
                throw interrupted(e);
            } catch (CallFailedException e) {
                if (e.isFinal()) {
                    throw new TakeOverException(shown() + " refuses " + what + ": " + e.getMessage(), e);
                }
                if (System.nanoTime() > deadline) {
                    throw new TakeOverException(
                            shown() + " did not answer " + what + " within " + patience.toSeconds() + " s; the last: "
                                    + e.getMessage(),
                            e);
                }
            }
            pause(PAUSE);
        }
    }

    /** Waits for a moment. */
    static void pause(Duration time) {
        try {
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static TakeOverException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new TakeOverException("interrupted", e);
    }

    private interface Attempt<T> {
        T run() throws CallFailedException, InterruptedException;
    }
}
