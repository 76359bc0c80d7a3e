package io.understudy.mirror.auth;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleDeleteRequest;
import io.etcd.jetcd.api.AuthRoleGetRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthRoleListRequest;
import io.etcd.jetcd.api.AuthRoleRevokePermissionRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserChangePasswordRequest;
import io.etcd.jetcd.api.AuthUserDeleteRequest;
import io.etcd.jetcd.api.AuthUserGetRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.AuthUserListRequest;
import io.etcd.jetcd.api.AuthUserRevokeRoleRequest;
import io.etcd.jetcd.api.Permission;
import io.grpc.CallOptions;
import io.grpc.stub.ClientCalls;
import io.understudy.etcd.AuthStatus;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.vocabulary.KeyRange;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Single attempts at calls on a cluster's users and roles. To etcd each is a proposal, even a read. Each has a
 * deadline; {@link CallFailedException#error} tags a call that fails when it is repeated.
 */
final class AuthCalls {

    /** Field number in {@code AuthUserChangePasswordRequest}, which jetcd's messages lack. */
    private static final int HASHED_PASSWORD = 3;

    private static final int RANDOM_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ClusterCalls calls;
    private final Duration deadline;

    /** The caller closes {@code cluster}. */
    AuthCalls(EtcdCluster cluster) {
        this.deadline = cluster.settings().requestTimeout();
        this.calls = new ClusterCalls(cluster, Duty.WRITE, deadline);
    }

    AuthStatus status() throws CallFailedException, InterruptedException {
        return AuthStatus.of(calls.call(channel -> ClientCalls.blockingUnaryCall(
                channel,
                AuthStatus.METHOD,
                CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS),
                AuthStatus.request())));
    }

    /** Reads all roles and users, not atomically: names deleted meanwhile are left out. */
    Authorisation read() throws CallFailedException, InterruptedException {
        Map<String, Map<GrantedRange, Permission.Type>> roles = new HashMap<>();
        for (String role : auth(stub -> stub.roleList(AuthRoleListRequest.getDefaultInstance()))
                .getRolesList()) {
            try {
                Map<GrantedRange, Permission.Type> grants = new HashMap<>();
                auth(stub -> stub.roleGet(
                                AuthRoleGetRequest.newBuilder().setRole(role).build()))
                        .getPermList()
                        .forEach(each -> grants.merge(
                                new GrantedRange(each.getKey(), each.getRangeEnd()),
                                each.getPermType(),
                                (one, other) -> one == other ? one : Permission.Type.READWRITE));
                roles.put(role, Map.copyOf(grants));
            } catch (CallFailedException e) {
                passOver(e, EtcdError.ROLE_NOT_FOUND);
            }
        }
        Map<String, Set<String>> users = new HashMap<>();
        for (String user : auth(stub -> stub.userList(AuthUserListRequest.getDefaultInstance()))
                .getUsersList()) {
            try {
                users.put(
                        user,
                        Set.copyOf(auth(stub -> stub.userGet(AuthUserGetRequest.newBuilder()
                                        .setName(user)
                                        .build()))
                                .getRolesList()));
            } catch (CallFailedException e) {
                passOver(e, EtcdError.USER_NOT_FOUND);
            }
        }
        return new Authorisation(roles, users);
    }

    /** Whether the cluster holds any key of {@code range}, linearizably. */
    boolean hasAny(KeyRange range) throws CallFailedException, InterruptedException {
        return calls.kv(stub -> stub.range(EtcdMessages.range(range)
                                .setKeysOnly(true)
                                .setLimit(1)
                                .build()))
                        .getKvsCount()
                > 0;
    }

    void addRole(String role) throws CallFailedException, InterruptedException {
        var unused = auth(stub ->
                stub.roleAdd(AuthRoleAddRequest.newBuilder().setName(role).build()));
    }

    void grant(String role, GrantedRange range, Permission.Type type) throws CallFailedException, InterruptedException {
        var unused = auth(stub -> stub.roleGrantPermission(AuthRoleGrantPermissionRequest.newBuilder()
                .setName(role)
                .setPerm(Permission.newBuilder()
                        .setPermType(type)
                        .setKey(range.key())
                        .setRangeEnd(range.end()))
                .build()));
    }

    void revoke(String role, GrantedRange range) throws CallFailedException, InterruptedException {
        var unused = auth(stub -> stub.roleRevokePermission(AuthRoleRevokePermissionRequest.newBuilder()
                .setRole(role)
                .setKey(range.key())
                .setRangeEnd(range.end())
                .build()));
    }

    void deleteRole(String role) throws CallFailedException, InterruptedException {
        var unused = auth(stub ->
                stub.roleDelete(AuthRoleDeleteRequest.newBuilder().setRole(role).build()));
    }

    /**
     * Adds a user with a random, unknown password. A user added without a password can't be given one later, although
     * etcd reports success. For a new user etcd ignores a hash and hashes the request's password, even an empty one.
     */
    void addUser(String user) throws CallFailedException, InterruptedException {
        byte[] random = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(random);
        String password = Base64.getEncoder().withoutPadding().encodeToString(random);
        var unused = auth(stub -> stub.userAdd(AuthUserAddRequest.newBuilder()
                .setName(user)
                .setPassword(password)
                .build()));
    }

    void deleteUser(String user) throws CallFailedException, InterruptedException {
        var unused = auth(stub ->
                stub.userDelete(AuthUserDeleteRequest.newBuilder().setName(user).build()));
    }

    void giveRole(String user, String role) throws CallFailedException, InterruptedException {
        var unused = auth(stub -> stub.userGrantRole(AuthUserGrantRoleRequest.newBuilder()
                .setUser(user)
                .setRole(role)
                .build()));
    }

    void takeRole(String user, String role) throws CallFailedException, InterruptedException {
        var unused = auth(stub -> stub.userRevokeRole(AuthUserRevokeRoleRequest.newBuilder()
                .setName(user)
                .setRole(role)
                .build()));
    }

    void setPassword(String user, PasswordHash hash) throws CallFailedException, InterruptedException {
        ByteString hashed = hash.base64();
        var unused = auth(stub -> stub.userChangePassword(AuthUserChangePasswordRequest.newBuilder()
                .setName(user)
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                HASHED_PASSWORD,
                                UnknownFieldSet.Field.newBuilder()
                                        .addLengthDelimited(hashed)
                                        .build())
                        .build())
                .build()));
    }

    private <T> T auth(Function<AuthGrpc.AuthBlockingStub, T> call) throws CallFailedException, InterruptedException {
        return calls.call(channel -> call.apply(
                AuthGrpc.newBlockingStub(channel).withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)));
    }

    private static void passOver(CallFailedException failure, EtcdError gone) throws CallFailedException {
        if (failure.error() != gone) {
            throw failure;
        }
    }
}
