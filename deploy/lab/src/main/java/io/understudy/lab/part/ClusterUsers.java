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
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;

/**
 * The users of a cluster and their permissions.
 *
 * @param root the user that etcd requires for authentication
 * @param users all others
 */
public record ClusterUsers(Credentials root, List<User> users) {

    public ClusterUsers {
        users = List.copyOf(users);
    }

    /**
     * Keys that a user may read.
     *
     * @param write whether the user may write them, too
     */
    public record Grant(KeyRange keys, boolean write) {}

    /**
     * A user and its grants.
     *
     * @param isRoot whether it has the role root, which needs no grants
     */
    public record User(Credentials credentials, boolean isRoot, List<Grant> grants) {

        public User {
            grants = List.copyOf(grants);
        }

        public static User root(Credentials credentials) {
            return new User(credentials, true, List.of());
        }

        public static User of(Credentials credentials, Grant... grants) {
            return new User(credentials, false, List.of(grants));
        }
    }

    /**
     * Adds the users and enables authentication, unless it is enabled; resumes an interrupted attempt.
     *
     * @param cluster its first endpoint is a voter that reaches the quorum
     * @throws LabException a request was rejected, or had no response
     */
    public void enable(EtcdSettings cluster) {
        EtcdSettings nameless = cluster.withLogin(null);
        try (EtcdConnections connections = EtcdConnections.open(nameless)) {
            UserAdministration voter =
                    new UserAdministration(connections, nameless.seeds().get(0));
            if (!voter.isAuthenticationEnabled(root)) {
                voter.add(User.root(root));
                users.forEach(voter::add);
                voter.enableAuthentication();
            }
        }
    }

    /** Users and roles of a cluster, by requests to one voter. What is there already is made what it should be. */
    private record UserAdministration(EtcdConnections connections, Endpoint voter) {

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
}
