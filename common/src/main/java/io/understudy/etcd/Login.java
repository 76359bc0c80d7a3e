package io.understudy.etcd;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.AuthenticateResponse;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Adds the token of one user to every call. The token is fetched before the first call, by one request however many
 * calls wait for it, and again after one was rejected: tokens expire, and a learner loses them when it restarts. The
 * rejected call fails, to be retried {@linkplain Remedy#LATER later}. A rejected password is read from its file again.
 *
 * <p>Only voters issue tokens, all members accept them. Any thread.
 *
 * <p>Invariant E12: a token is fetched once for all calls and replaced after a member rejects it; a rejected password
 * is read from its file again.
 */
final class Login implements ClientInterceptor {

    private static final Logger LOG = LoggerFactory.getLogger(Login.class);

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

    private static final Status NO_VOTER =
            Status.UNAVAILABLE.withDescription("no TLS endpoint for login; set insecure: true to allow plaintext");

    /** Errors that require a new token. USER_EMPTY: no token was sent, before authentication was enabled. */
    private static final Set<EtcdError> OF_THE_TOKEN =
            EnumSet.of(EtcdError.INVALID_TOKEN, EtcdError.USER_EMPTY, EtcdError.OLD_AUTH_REVISION);

    /**
     * Minimum time between two token requests, doubled for each that soon follows another. A request takes a tenth of a
     * second of the voter's CPU, and a lagging member rejects new tokens too.
     */
    private static final long LEAST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(32);
    /** After a token that was accepted: authentication was disabled or enabled again. */
    private static final long LONGEST_PAUSE_OF_ACCEPTED_NANOS = TimeUnit.SECONDS.toNanos(4);

    private final String cluster;
    private final String user;
    private final Password password;
    private final Duration deadline;
    private final Supplier<List<Endpoint>> voters;
    private final Function<Endpoint, Channel> channels;
    private final Consumer<String> outcomes;

    private @Nullable CompletableFuture<Token> current;
    private volatile @Nullable Endpoint issuer;
    /** Failure of the last attempt; null if it succeeded, or before the first. */
    private volatile @Nullable String lastFailure;

    private long requestedNanos;
    private long pauseNanos = LEAST_PAUSE_NANOS;

    private Login(
            String cluster,
            Credentials credentials,
            Duration deadline,
            Supplier<List<Endpoint>> voters,
            Function<Endpoint, Channel> channels,
            Consumer<String> outcomes) {
        this.cluster = cluster;
        this.user = credentials.user();
        this.password = new Password(cluster, credentials);
        this.deadline = deadline;
        this.voters = voters;
        this.channels = channels;
        this.outcomes = outcomes;
    }

    /**
     * Interceptor for the user of the settings; null if they have none.
     *
     * @param voters that may issue a token, best first; only those that may be sent the password are used
     * @param channels connections without this
     * @param outcomes receives the result of each attempt
     */
    static @Nullable Login of(
            EtcdSettings settings,
            Supplier<List<Endpoint>> voters,
            Function<Endpoint, Channel> channels,
            Consumer<String> outcomes) {
        Credentials credentials = settings.login();
        return credentials == null
                ? null
                : new Login(
                        settings.name(),
                        credentials,
                        settings.requestTimeout(),
                        () -> voters.get().stream().filter(settings::mayLogInAt).toList(),
                        channels,
                        outcomes);
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        Ticket ticket = new Ticket();
        return new SimpleForwardingClientCall<>(next.newCall(method, options.withCallCredentials(ticket))) {
            @Override
            public void start(Listener<A> listener, Metadata headers) {
                super.start(new Answers<>(listener, ticket), headers);
            }
        };
    }

    private synchronized CompletableFuture<Token> token() {
        CompletableFuture<Token> known = current;
        boolean usable =
                known != null && (!known.isDone() || (!known.isCompletedExceptionally() && !known.join().refused));
        long sinceNanos = System.nanoTime() - requestedNanos;
        if (known != null && (usable || sinceNanos < pauseNanos)) {
            return known;
        }
        boolean soon = known != null && sinceNanos < 2 * pauseNanos;
        boolean wasAccepted = known != null && !known.isCompletedExceptionally() && known.join().accepted;
        long longest = wasAccepted ? LONGEST_PAUSE_OF_ACCEPTED_NANOS : LONGEST_PAUSE_NANOS;
        pauseNanos = soon ? Math.min(2 * pauseNanos, longest) : LEAST_PAUSE_NANOS;
        requestedNanos = System.nanoTime();
        CompletableFuture<Token> fetched = new CompletableFuture<>();
        current = fetched;
        Calls.whenDone(
                CompletableFuture.completedFuture(NO_VOTER),
                fetched,
                (status, failure) -> fetch(bestFirst(), NO_VOTER, fetched));
        return fetched;
    }

    /** Voters, the last issuer first, since configured ones may no longer respond. */
    private List<Endpoint> bestFirst() {
        List<Endpoint> all = new ArrayList<>(voters.get());
        Endpoint last = issuer;
        if (last != null && all.remove(last)) {
            all.add(0, last);
        }
        return all;
    }

    /** @param untried voters, tried one after the other until one has decided */
    private void fetch(List<Endpoint> untried, Status last, CompletableFuture<Token> fetched) {
        if (untried.isEmpty()) {
            failed(last, fetched);
            return;
        }
        Endpoint voter = untried.get(0);
        String tried = password.current();
        CompletableFuture<AuthenticateResponse> answer = Calls.attempt(() -> Calls.unary(
                channels.apply(voter),
                AuthGrpc.getAuthenticateMethod(),
                AuthenticateRequest.newBuilder()
                        .setName(user)
                        .setPassword(tried)
                        .build(),
                deadline));
        Calls.whenDone(answer, fetched, (response, failure) -> {
            if (response != null) {
                outcomes.accept(EtcdMetrics.OK);
                LOG.atLevel(failure(null) ? Level.INFO : Level.DEBUG)
                        .addKeyValue("cluster", cluster)
                        .addKeyValue("user", user)
                        .addKeyValue("member", voter)
                        .log("logged in");
                issuer = voter;
                fetched.complete(new Token(response.getToken()));
                return;
            }
            Status status = Status.fromThrowable(failure);
            switch (EtcdErrors.classify(Duty.WRITE, status).error()) {
                case AUTH_NOT_ENABLED -> fetched.complete(new Token(null));
                case LOGIN_FAILED -> refused(tried, untried, status, fetched);
                default -> fetch(untried.subList(1, untried.size()), status, fetched);
            }
        });
    }

    /** The same voter is tried again if the password has changed meanwhile. */
    private void refused(String tried, List<Endpoint> untried, Status why, CompletableFuture<Token> fetched) {
        Calls.whenDone(password.isAnother(tried), fetched, (another, failure) -> {
            if (another != null && another) {
                fetch(untried, why, fetched);
            } else {
                failed(why, fetched);
            }
        });
    }

    private void failed(Status why, CompletableFuture<Token> fetched) {
        outcomes.accept(EtcdMetrics.FAILED);
        LOG.atLevel(failure(FailureText.of(why)) ? Level.WARN : Level.DEBUG)
                .addKeyValue("cluster", cluster)
                .addKeyValue("endpoints", voters.get())
                .addKeyValue("user", user)
                .addKeyValue("cause", FailureText.of(why))
                .log("login failed");
        fetched.completeExceptionally(why.asRuntimeException());
    }

    /** Returns whether an attempt ended in another way than the last. */
    private boolean failure(@Nullable String now) {
        boolean changed = !Objects.equals(lastFailure, now);
        lastFailure = now;
        return changed;
    }

    /** The token of all calls until one of them is rejected. */
    private static final class Token {
        /** Null while authentication is not enabled. */
        private final @Nullable String value;

        private volatile boolean refused;
        /** A call with it was answered. */
        private volatile boolean accepted;

        Token(@Nullable String value) {
            this.value = value;
        }
    }

    /** Puts the token on one call. */
    private final class Ticket extends CallCredentials {

        private volatile @Nullable Token used;

        @Override
        public void applyRequestMetadata(RequestInfo call, Executor executor, MetadataApplier applier) {
            Calls.whenDone(token(), (token, failure) -> {
                if (token == null) {
                    applier.fail(ofCall(Status.fromThrowable(failure)));
                    return;
                }
                used = token;
                Metadata headers = new Metadata();
                if (token.value != null) {
                    headers.put(TOKEN, token.value);
                }
                applier.apply(headers);
            });
        }

        /**
         * Returns the status of a call that had to log in. For a failed login, gRPC allows no other code, and prepends
         * its own text to etcd's. With etcd's alone, the call would fail for good, though another login may succeed.
         */
        private static Status ofCall(Status login) {
            return EtcdErrors.error(String.valueOf(login.getDescription())) == EtcdError.LOGIN_FAILED
                    ? Status.INTERNAL
                            .withDescription("login failed: " + login.getDescription())
                            .withCause(login.getCause())
                    : login;
        }

        void accepted() {
            Token token = used;
            if (token != null && !token.accepted) {
                token.accepted = true;
            }
        }

        /** Whether the text requires a new token; if so the next call gets one. */
        boolean isRefused(@Nullable String text) {
            Token token = used;
            if (text == null || token == null) {
                return false;
            }
            EtcdError error = EtcdErrors.error(text);
            // Without a token, etcd takes the name in a client certificate for the user, once authentication is
            // enabled.
            boolean isOfCertificate = token.value == null && error == EtcdError.PERMISSION_DENIED;
            if (!isOfCertificate && !OF_THE_TOKEN.contains(error)) {
                return false;
            }
            token.refused = true;
            return true;
        }
    }

    /** Detects the rejection of a token, which a watch receives as a message. */
    private static final class Answers<A> extends SimpleForwardingClientCallListener<A> {

        private final Ticket ticket;

        Answers(ClientCall.Listener<A> listener, Ticket ticket) {
            super(listener);
            this.ticket = ticket;
        }

        @Override
        @SuppressWarnings("unchecked") // What replaces a message is of its class.
        public void onMessage(A message) {
            if (message instanceof WatchResponse response
                    && response.getCanceled()
                    && ticket.isRefused(response.getCancelReason())) {
                super.onMessage((A) response.toBuilder()
                        .setCancelReason(EtcdError.INVALID_TOKEN.message())
                        .build());
            } else {
                ticket.accepted();
                super.onMessage(message);
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            super.onClose(
                    ticket.isRefused(status.getDescription())
                            ? Status.UNAUTHENTICATED.withDescription(EtcdError.INVALID_TOKEN.message())
                            : status,
                    trailers);
        }
    }
}
