package io.understudy.lab.part;

import io.etcd.jetcd.api.AuthEnableRequest;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserChangePasswordRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.Permission;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.ClusterUsers.Grant;
import io.understudy.lab.part.ClusterUsers.User;
import java.time.Duration;
import java.util.concurrent.CompletionException;

/** Users and roles of a cluster, by requests to one voter. What is there already is made what it should be. */
record UserAdministration(EtcdConnections connections, Endpoint voter) {

    /** The rest of the lab starts meanwhile, and a password is made to take long. */
    private static final Duration DEADLINE = Duration.ofMinutes(1);

    private static final String ROOT = "root";

    /** Authentication is enabled if root can obtain a token. */
    boolean isAuthenticationEnabled(Credentials root) {
        return made(
                AuthGrpc.getAuthenticateMethod(),
                AuthenticateRequest.newBuilder()
                        .setName(root.user())
                        .setPassword(root.password())
                        .build());
    }

    void enableAuthentication() {
        call(AuthGrpc.getAuthEnableMethod(), AuthEnableRequest.getDefaultInstance());
    }

    /** Adds a user, with a role of the same name, or root's. */
    void add(User user) {
        String name = user.credentials().user();
        String password = user.credentials().password();
        String role = user.isRoot() ? ROOT : name;
        if (!made(
                AuthGrpc.getUserAddMethod(),
                AuthUserAddRequest.newBuilder()
                        .setName(name)
                        .setPassword(password)
                        .build())) {
            call(
                    AuthGrpc.getUserChangePasswordMethod(),
                    AuthUserChangePasswordRequest.newBuilder()
                            .setName(name)
                            .setPassword(password)
                            .build());
        }
        var unused = made(
                AuthGrpc.getRoleAddMethod(),
                AuthRoleAddRequest.newBuilder().setName(role).build());
        user.grants().forEach(grant -> grant(role, grant));
        call(
                AuthGrpc.getUserGrantRoleMethod(),
                AuthUserGrantRoleRequest.newBuilder()
                        .setUser(name)
                        .setRole(role)
                        .build());
    }

    private void grant(String role, Grant grant) {
        call(
                AuthGrpc.getRoleGrantPermissionMethod(),
                AuthRoleGrantPermissionRequest.newBuilder()
                        .setName(role)
                        .setPerm(Permission.newBuilder()
                                .setPermType(grant.write() ? Permission.Type.READWRITE : Permission.Type.READ)
                                .setKey(grant.keys().etcdKey())
                                .setRangeEnd(grant.keys().etcdRangeEnd()))
                        .build());
    }

    /** Returns whether the request took effect. If not, the cluster is in no state for it: it is there already. */
    private <Q> boolean made(MethodDescriptor<Q, ?> method, Q request) {
        try {
            var unused = answer(method, request);
            return true;
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() == Status.Code.FAILED_PRECONDITION) {
                return false;
            }
            throw failure(method, e);
        }
    }

    private <Q> void call(MethodDescriptor<Q, ?> method, Q request) {
        try {
            var unused = answer(method, request);
        } catch (StatusRuntimeException e) {
            throw failure(method, e);
        }
    }

    private <Q, A> A answer(MethodDescriptor<Q, A> method, Q request) {
        try {
            return connections.call(voter, method, request, DEADLINE).join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StatusRuntimeException refused ? refused : e;
        }
    }

    private LabException failure(MethodDescriptor<?, ?> method, StatusRuntimeException e) {
        return new LabException(
                "cannot enable authentication: " + method.getBareMethodName() + " at " + voter + " failed with "
                        + e.getStatus().getCode() + ", " + e.getStatus().getDescription(),
                e);
    }
}
