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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Who asks, by what a request says in {@code Authorization}: a token as it is, {@code Bearer} and a token, or {@code Basic} and
 * a name with a password, for which the source is asked for a token. That is kept for a while, by a digest of the two that is
 * of no use elsewhere. For all event loops.
 */
final class Logins {

    private static final Duration KEPT_FOR = Duration.ofMinutes(1);
    private static final int MOST_KEPT = 10_000;

    /** A voter spends a tenth of a second on each. */
    private static final int MOST_UNDER_WAY = 16;

    private static final String BEARER = "Bearer ";
    private static final String BASIC = "Basic ";

    private final Function<byte[], Future<byte[]>> authenticate;
    private final Cache<ByteString, CompletableFuture<Principal>> tokens = Caffeine.newBuilder()
            .maximumSize(MOST_KEPT)
            .expireAfterWrite(KEPT_FOR)
            .build();
    private final AtomicInteger underWay = new AtomicInteger();
    private final byte[] salt = new byte[32];

    /** {@code authenticate} makes a call of {@code Auth.Authenticate}, for nobody in particular. */
    Logins(Function<byte[], Future<byte[]>> authenticate) {
        this.authenticate = authenticate;
        new SecureRandom().nextBytes(salt);
    }

    /**
     * Who it says it is; answered on the caller's event loop.
     *
     * @param authorization the header's value; null if there is none
     * @param otherwise who it is then
     */
    Future<Principal> who(@Nullable String authorization, Principal otherwise) {
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
            CompletableFuture<Principal> asked = new CompletableFuture<>();
            known = tokens.asMap().putIfAbsent(key, asked);
            if (known == null) {
                known = asked;
                ask(key, authorization, asked);
            }
        }
        return here(known);
    }

    /** Its token is not valid any more; whether it had one. */
    boolean forget(@Nullable String authorization) {
        return authorization != null
                && isOf(BASIC, authorization)
                && tokens.asMap().remove(digest(authorization)) != null;
    }

    private void ask(ByteString key, String authorization, CompletableFuture<Principal> asked) {
        AuthenticateRequest request;
        try {
            request = request(authorization);
        } catch (Problem e) {
            tokens.invalidate(key);
            asked.completeExceptionally(e);
            return;
        }
        if (underWay.incrementAndGet() > MOST_UNDER_WAY) {
            underWay.decrementAndGet();
            tokens.invalidate(key);
            asked.completeExceptionally(ApiException.tooManyRequests());
            return;
        }
        authenticate.apply(request.toByteArray()).onComplete(answer -> {
            underWay.decrementAndGet();
            if (answer.succeeded()) {
                told(key, answer.result(), asked);
                return;
            }
            tokens.invalidate(key);
            if (answer.cause() instanceof ApiException why && why.code() == Status.Code.FAILED_PRECONDITION) {
                // Authentication is not enabled, so that nobody asks for a name.
                asked.complete(Principal.ANONYMOUS);
            } else {
                asked.completeExceptionally(answer.cause());
            }
        });
    }

    private void told(ByteString key, byte[] answer, CompletableFuture<Principal> asked) {
        try {
            asked.complete(
                    new Principal.Token(AuthenticateResponse.parseFrom(answer).getToken()));
        } catch (InvalidProtocolBufferException e) {
            tokens.invalidate(key);
            asked.completeExceptionally(e);
        }
    }

    private static AuthenticateRequest request(String authorization) throws Problem {
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
            // Told below; what it says may be secret.
        }
        throw new Problem(
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

    private static Future<Principal> here(CompletableFuture<Principal> told) {
        if (told.isDone() && !told.isCompletedExceptionally()) {
            return Future.succeededFuture(told.join());
        }
        Context loop = Objects.requireNonNull(ContextInternal.current(), "not on an event loop");
        Promise<Principal> promise = Promise.promise();
        var unused = told.whenComplete((who, why) -> loop.runOnContext(now -> {
            if (why == null) {
                promise.complete(who);
            } else {
                promise.fail(why);
            }
        }));
        return promise.future();
    }
}
