package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleDeleteRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthRoleRevokePermissionRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserDeleteRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.understudy.etcd.Credentials;
import io.understudy.local.etcd.LocalEtcd;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Users and roles of a test's cluster with authentication. A user's password is the name. */
final class Users implements AutoCloseable {

    static final String ROOT = "root";

    private static final long ROOT_TOKEN_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

    private final LocalEtcd cluster;
    private final ManagedChannel voter;
    private final @Nullable ManagedChannel learner;
    private String rootToken;
    private long rootTokenNanos;

    Users(LocalEtcd cluster) {
        this.cluster = cluster;
        cluster.enableAuthentication(ROOT);
        URI url = cluster.leader().clientUrl();
        voter = GatewayFixture.channel(url.getHost(), url.getPort());
        learner = cluster.learners().isEmpty()
                ? null
                : GatewayFixture.channel(
                        cluster.learners().get(0).clientUrl().getHost(),
                        cluster.learners().get(0).clientUrl().getPort());
        rootToken = token(ROOT);
        rootTokenNanos = System.nanoTime();
    }

    /** The credentials of a gateway that may read everything. */
    static Credentials root() {
        return new Credentials(ROOT, ROOT);
    }

    ManagedChannel voter() {
        return voter;
    }

    /** Adds a user's token to each call; none for null. */
    static Channel as(@Nullable String token, Channel channel) {
        Metadata headers = new Metadata();
        if (token != null) {
            headers.put(TOKEN, token);
        }
        return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    /** Renewed now and then, as tokens may expire. */
    private synchronized String rootToken() {
        if (System.nanoTime() - rootTokenNanos >= ROOT_TOKEN_NANOS) {
            renewRoot();
        }
        return rootToken;
    }

    /** Replaces root's token: with self-contained tokens it holds the permissions as of its issue. */
    synchronized void renewRoot() {
        rootToken = token(ROOT);
        rootTokenNanos = System.nanoTime();
    }

    KVGrpc.KVBlockingStub asRoot() {
        return KVGrpc.newBlockingStub(as(rootToken(), voter)).withDeadlineAfter(30, TimeUnit.SECONDS);
    }

    /**
     * One that all members know. Sometimes a learner has another one for the same: etcd puts the index of what was applied
     * before into it, of which members may think differently.
     */
    String token(String user) {
        for (int i = 0; i < 50; i++) {
            String token = voterToken(user);
            if (learner == null || isKnown(token)) {
                return token;
            }
        }
        throw new AssertionError("the learner knows none of the voters' tokens");
    }

    private boolean isKnown(String token) {
        try {
            var unused = KVGrpc.newBlockingStub(as(token, learner))
                    .withDeadlineAfter(30, TimeUnit.SECONDS)
                    .range(RangeRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("any"))
                            .setSerializable(true)
                            .build());
            return true;
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode() != Status.Code.UNAUTHENTICATED;
        }
    }

    private String voterToken(String user) {
        return AuthGrpc.newBlockingStub(voter)
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .authenticate(AuthenticateRequest.newBuilder()
                        .setName(user)
                        .setPassword(user)
                        .build())
                .getToken();
    }

    /** Adds a user with a role of the same name. */
    void add(String user) {
        var unused = auth().userAdd(AuthUserAddRequest.newBuilder()
                .setName(user)
                .setPassword(user)
                .build());
        var unusedToo =
                auth().roleAdd(AuthRoleAddRequest.newBuilder().setName(user).build());
        grantRole(user, user);
    }

    /** The same without a password: the user is identified by its certificate only. */
    void addNameOnly(String user) {
        cluster.etcdctl("--user=" + ROOT + ":" + ROOT, "user", "add", user, "--no-password");
        var unused =
                auth().roleAdd(AuthRoleAddRequest.newBuilder().setName(user).build());
        grantRole(user, user);
    }

    void grantRole(String user, String role) {
        var unused = auth().userGrantRole(AuthUserGrantRoleRequest.newBuilder()
                .setUser(user)
                .setRole(role)
                .build());
    }

    void delete(String user) {
        var unused = auth().userDelete(
                        AuthUserDeleteRequest.newBuilder().setName(user).build());
    }

    void deleteRole(String role) {
        var unused = auth().roleDelete(
                        AuthRoleDeleteRequest.newBuilder().setRole(role).build());
    }

    void grant(String user, Permission.Type type, ByteString key, ByteString end) {
        var unused = auth().roleGrantPermission(AuthRoleGrantPermissionRequest.newBuilder()
                .setName(user)
                .setPerm(Permission.newBuilder().setPermType(type).setKey(key).setRangeEnd(end))
                .build());
    }

    void revoke(String user, ByteString key, ByteString end) {
        var unused = auth().roleRevokePermission(AuthRoleRevokePermissionRequest.newBuilder()
                .setRole(user)
                .setKey(key)
                .setRangeEnd(end)
                .build());
    }

    private AuthGrpc.AuthBlockingStub auth() {
        return AuthGrpc.newBlockingStub(as(rootToken(), voter)).withDeadlineAfter(30, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        voter.shutdownNow();
        if (learner != null) {
            learner.shutdownNow();
        }
    }
}
