package io.understudy.gateway.server;

import io.netty.util.AsciiString;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.server.Exchange.RequestHead;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the caller's identity and the required freshness from a request's head.
 *
 * <p>Invariant T1: with TLS, only verified clients are served, under their verified name, by TLS 1.2 or later.
 */
final class Callers {

    /** Metadata key as in etcd's {@code auth/store.go}; its JSON mapping uses {@link #AUTHORIZATION}. */
    private static final AsciiString TOKEN = AsciiString.cached("token");

    /** {@link #TOKEN} of a JSON request: grpc-gateway removes the prefix. */
    private static final AsciiString WEB_TOKEN = AsciiString.cached("grpc-metadata-token");

    private static final AsciiString AUTHORIZATION = AsciiString.cached("authorization");
    private static final List<AsciiString> FRESHNESS = freshnessFields("");
    private static final List<AsciiString> WEB_FRESHNESS = freshnessFields("grpc-metadata-");

    private Callers() {}

    /**
     * Returns the caller of a request.
     *
     * @throws ApiException for an invalid freshness
     */
    static Caller of(
            RequestHead head,
            ClientConnection connection,
            long deadlineNanos,
            BooleanSupplier gone,
            Consumer<Runnable> whenOver)
            throws ApiException {
        return new Caller(
                principal(head, connection),
                connection.session(),
                freshness(head, FRESHNESS),
                deadlineNanos,
                gone,
                whenOver);
    }

    /** Returns the caller of a plain HTTP request, by its headers. */
    static Principal ofWeb(RequestHead head) {
        // etcd's JSON mapping calls with its own certificate, so the client's certificate is never the identity.
        CharSequence token = token(WEB_TOKEN, head);
        return token == null ? Principal.ANONYMOUS : new Principal.Token(token.toString());
    }

    private static Principal principal(RequestHead head, ClientConnection connection) {
        CharSequence token = token(TOKEN, head);
        return token == null ? connection.peer() : connection.token(token.toString());
    }

    private static @Nullable CharSequence token(AsciiString field, RequestHead head) {
        CharSequence token = head.header(field);
        return token == null ? head.header(AUTHORIZATION) : token;
    }

    /**
     * Returns the required freshness of a plain HTTP request.
     *
     * @throws ApiException if it is invalid
     */
    static Freshness webFreshness(RequestHead head) throws ApiException {
        return freshness(head, WEB_FRESHNESS);
    }

    private static List<AsciiString> freshnessFields(String prefix) {
        return Stream.of(Freshness.MAX_STALENESS_KEY, Freshness.MIN_REVISION_KEY, Freshness.REQUIRES_LEADER_KEY)
                .map(key -> AsciiString.cached(prefix + key))
                .toList();
    }

    private static Freshness freshness(RequestHead head, List<AsciiString> fields) throws ApiException {
        return Freshness.ofMetadata(
                text(head.header(fields.get(0))), text(head.header(fields.get(1))), text(head.header(fields.get(2))));
    }

    private static @Nullable String text(@Nullable CharSequence value) {
        return value == null ? null : value.toString();
    }
}
