package io.understudy.gateway.rest;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.AuthenticateResponse;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.server.Places;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Caller identities by the {@code Authorization} header. It is a plain token, {@code Bearer} with a token, or {@code
 * Basic} with name and password, for which the source issues a token. Tokens are cached by a salted digest of the
 * credentials. Thread-safe.
 */
final class Logins {

    private static final Duration KEPT_FOR = Duration.ofMinutes(1);
    private static final int MOST_KEPT = 10_000;

    /** Maximum number of concurrent logins: each takes a voter a tenth of a second. */
    private static final int MOST_UNDER_WAY = 16;

    private static final String BEARER = "Bearer ";
    private static final String BASIC = "Basic ";

    private final Function<byte[], Future<byte[]>> authenticate;
    private final Cache<ByteString, CompletableFuture<Principal>> tokens = Caffeine.newBuilder()
            .maximumSize(MOST_KEPT)
            .expireAfterWrite(KEPT_FOR)
            .build();
    private final Places places = new Places(MOST_UNDER_WAY);
    private final byte[] salt = new byte[32];

    /** @param authenticate calls {@code Auth.Authenticate} without a caller identity */
    Logins(Function<byte[], Future<byte[]>> authenticate) {
        this.authenticate = authenticate;
        new SecureRandom().nextBytes(salt);
    }

    /**
     * Returns the caller identity of a request; completes on the caller's event loop.
     *
     * @param authorization the header's value; null if there is none
     * @param otherwise the identity without a header
     * @param client its name for limits
     */
    Future<Principal> principal(@Nullable String authorization, Principal otherwise, String client) {
        if (authorization == null) {
            return Future.succeededFuture(otherwise);
        }
        if (isOf(BEARER, authorization)) {
            return Future.succeededFuture(
                    new Principal.Token(authorization.substring(BEARER.length()).strip()));
        }
        if (!isOf(BASIC, authorization)) {
            return Future.succeededFuture(new Principal.Token(authorization));
        }
        ByteString key = digest(authorization);
        CompletableFuture<Principal> known = tokens.getIfPresent(key);
        if (known == null) {
            CompletableFuture<Principal> pending = new CompletableFuture<>();
            known = tokens.asMap().putIfAbsent(key, pending);
            if (known == null) {
                known = pending;
                login(key, authorization, client, pending);
            }
        }
        return here(known);
    }

    /** Drops an invalid token; returns whether there was one. */
    boolean forget(@Nullable String authorization) {
        return authorization != null
                && isOf(BASIC, authorization)
                && tokens.asMap().remove(digest(authorization)) != null;
    }

    private void login(ByteString key, String authorization, String client, CompletableFuture<Principal> pending) {
        AuthenticateRequest request;
        try {
            request = request(authorization);
        } catch (ProblemDetails e) {
            tokens.invalidate(key);
            pending.completeExceptionally(e);
            return;
        }
        if (!places.take(client)) {
            tokens.invalidate(key);
            pending.completeExceptionally(ApiException.tooManyRequests());
            return;
        }
        authenticate.apply(request.toByteArray()).onComplete(answer -> {
            places.giveBack(client);
            if (answer.succeeded()) {
                complete(key, answer.result(), pending);
                return;
            }
            tokens.invalidate(key);
            if (answer.cause() instanceof ApiException why && why.code() == Status.Code.FAILED_PRECONDITION) {
                // Authentication is not enabled, so that no name is required.
                pending.complete(Principal.ANONYMOUS);
            } else {
                pending.completeExceptionally(answer.cause());
            }
        });
    }

    private void complete(ByteString key, byte[] answer, CompletableFuture<Principal> pending) {
        try {
            pending.complete(
                    new Principal.Token(AuthenticateResponse.parseFrom(answer).getToken()));
        } catch (InvalidProtocolBufferException e) {
            tokens.invalidate(key);
            pending.completeExceptionally(e);
        }
    }

    private static AuthenticateRequest request(String authorization) throws ProblemDetails {
        try {
            String both = new String(
                    Base64.getDecoder()
                            .decode(authorization.substring(BASIC.length()).strip()),
                    StandardCharsets.UTF_8);
            int colon = both.indexOf(':');
            if (colon > 0) {
                return AuthenticateRequest.newBuilder()
                        .setName(both.substring(0, colon))
                        .setPassword(both.substring(colon + 1))
                        .build();
            }
        } catch (IllegalArgumentException e) {
            // Rejected below, without the credentials.
        }
        throw new ProblemDetails(
                401, Status.Code.UNAUTHENTICATED, "invalid Basic credentials; allowed: NAME:PASSWORD in Base64");
    }

    private static boolean isOf(String scheme, String authorization) {
        return authorization.regionMatches(true, 0, scheme, 0, scheme.length());
    }

    private ByteString digest(String authorization) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(salt);
            return ByteString.copyFrom(digest.digest(authorization.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }

    private static Future<Principal> here(CompletableFuture<Principal> login) {
        if (login.isDone() && !login.isCompletedExceptionally()) {
            return Future.succeededFuture(login.join());
        }
        Context loop = Objects.requireNonNull(ContextInternal.current(), "not on an event loop");
        Promise<Principal> promise = Promise.promise();
        var unused = login.whenComplete((principal, why) -> loop.runOnContext(now -> {
            if (why == null) {
                promise.complete(principal);
            } else {
                promise.fail(why);
            }
        }));
        return promise.future();
    }

    /** Identifies the callers of requests. Thread-safe. */
    static final class Identification {

        private final Logins logins;

        Identification(Logins logins) {
            this.logins = logins;
        }

        /** Serves the identified caller. */
        @FunctionalInterface
        interface Identified {
            void serve(Principal principal) throws ProblemDetails;
        }

        /** Passes the caller's identity to {@code then}, or rejects the request. Renews an invalid gateway token once. */
        void then(RestExchange exchange, Identified then) {
            String authorization = exchange.header("authorization");
            Principal otherwise = exchange.request().peer();
            String client = exchange.request().client();
            logins.principal(authorization, otherwise, client)
                    .onSuccess(principal -> {
                        exchange.onInvalidToken(() -> {
                            if (logins.forget(authorization)) {
                                logins.principal(authorization, otherwise, client)
                                        .onSuccess(renewed -> guarded(exchange, then, renewed))
                                        .onFailure(exchange::fail);
                                return true;
                            }
                            return false;
                        });
                        guarded(exchange, then, principal);
                    })
                    .onFailure(exchange::fail);
        }

        private static void guarded(RestExchange exchange, Identified then, Principal principal) {
            try {
                then.serve(principal);
            } catch (ProblemDetails e) {
                exchange.refuse(e);
            } catch (RuntimeException e) {
                exchange.fail(e);
            }
        }
    }
}
