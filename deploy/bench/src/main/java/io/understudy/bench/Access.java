package io.understudy.bench;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.understudy.local.etcd.LocalEtcd;
import java.net.URI;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The identity of clients.
 *
 * @param token of a user that may read and write all keys; empty without authentication
 */
record Access(String token) {

    static final Access OPEN = new Access("");

    /** Tokens must not expire while their client is idle. */
    static final String TOKEN_LIFETIME = "--auth-token-ttl=86400";

    static final String USER = "bench";

    private static final int PASSWORD_BYTES = 16;
    private static final long DEADLINE_SECONDS = 30;

    /** A random password. */
    static String newPassword() {
        byte[] bytes = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Makes the user, enables authentication, and is that user from now on. */
    static Access enable(LocalEtcd cluster, String password) {
        cluster.etcdctl("user", "add", USER + ":" + password);
        cluster.etcdctl("role", "add", USER);
        cluster.etcdctl("role", "grant-permission", "--prefix", USER, "readwrite", "");
        cluster.etcdctl("user", "grant-role", USER, USER);
        cluster.enableAuthentication(newPassword());
        return new Access(token(cluster.leader().directClientUrl(), password));
    }

    private static String token(URI voter, String password) {
        ManagedChannel channel = Connections.to(voter);
        try {
            return AuthGrpc.newBlockingStub(channel)
                    .withWaitForReady()
                    .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
                    .authenticate(AuthenticateRequest.newBuilder()
                            .setName(USER)
                            .setPassword(password)
                            .build())
                    .getToken();
        } catch (StatusRuntimeException e) {
            throw new BenchException("cannot get a token from " + voter, e);
        } finally {
            channel.shutdownNow();
        }
    }

    /** The same for a channel. */
    ClientInterceptor onEachCall() {
        Metadata metadata = new Metadata();
        headers(Api.GRPC)
                .forEach((name, value) -> metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
        return MetadataUtils.newAttachHeadersInterceptor(metadata);
    }

    /** What requests carry besides. grpc-proxy passes on no token but one under gRPC's name. */
    Map<String, String> headers(Api api) {
        return token.isEmpty() ? Map.of() : Map.of(api == Api.JSON ? "authorization" : "token", token);
    }
}
