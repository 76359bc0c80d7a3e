package io.understudy.cluster.access;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleGetRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserChangePasswordRequest;
import io.etcd.jetcd.api.AuthUserGetRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.Permission;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdSettings;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The access of a process to a cluster: its configured user, and a role of the same name. */
public final class EtcdAccess implements AutoCloseable {

    private final String side;
    private final Credentials own;
    private final List<Endpoint> endpoints;
    private final Duration timeout;
    private final EtcdConnections asRoot;
    private final EtcdConnections anonymous;

    /** A permission that the process needs. */
    public record Need(Permission.Type type, KeyRange range) {

        public static Need read(KeyRange range) {
            return new Need(Permission.Type.READ, range);
        }

        public static Need readWrite(KeyRange range) {
            return new Need(Permission.Type.READWRITE, range);
        }

        private boolean isMetBy(Permission.Type granted) {
            return granted == type || granted == Permission.Type.READWRITE;
        }

        private String text() {
            return (type == Permission.Type.READ ? "read " : "read and write ") + shown(range);
        }
    }

    /** A missing part of the access. */
    public record Change(String text, Runnable making) {}

    /**
     * Sends nothing yet.
     *
     * @param side group of the cluster in the configuration
     * @param cluster with the user of the process
     * @param root user with the role root; null without authentication
     * @throws IllegalArgumentException the configuration has no user, or root
     */
    public EtcdAccess(String side, EtcdSettings cluster, @Nullable Credentials root, Duration timeout) {
        Credentials login = cluster.login();
        if (login == null) {
            throw new IllegalArgumentException(
                    side + ".user is missing; set it and " + side + ".passwordFile to the user and password to create");
        }
        if (login.user().equals("root")) {
            throw new IllegalArgumentException(
                    side + ".user is root, which has all permissions; set it to a user of the process");
        }
        this.side = side;
        this.own = login;
        this.endpoints = cluster.seeds();
        this.timeout = timeout;
        this.asRoot = EtcdConnections.open(cluster.withLogin(
                root == null ? null : new Credentials(root.user(), root.password(), login.plainText(), null)));
        this.anonymous = EtcdConnections.open(cluster.withLogin(null));
    }

    /**
     * Returns what is missing, in the order in which it is made. A repetition completes an interrupted run.
     *
     * @param notes receives what exceeds the needs; it is not revoked
     */
    public List<Change> missing(List<Need> needs, Consumer<String> notes) {
        String name = own.user();
        List<Change> changes = new ArrayList<>();
        Optional<List<Permission>> role = role(name);
        if (role.isEmpty()) {
            changes.add(new Change(
                    "create role " + name,
                    () -> root(
                            AuthGrpc.getRoleAddMethod(),
                            AuthRoleAddRequest.newBuilder().setName(name).build())));
        }
        List<Permission> granted = role.orElse(List.of());
        List<Need> held = new ArrayList<>();
        granted.forEach(each -> held.add(new Need(each.getPermType(), range(each))));
        for (Need need : needs) {
            if (!isCovered(
                    need.range(),
                    held.stream()
                            .filter(each -> need.isMetBy(each.type()))
                            .map(Need::range)
                            .toList())) {
                // etcd has one type per range: a grant replaces that of an earlier one.
                Need whole = held.stream().anyMatch(each -> each.range().equals(need.range()))
                        ? Need.readWrite(need.range())
                        : need;
                held.add(whole);
                changes.add(new Change("permit role " + name + " to " + whole.text(), () -> permit(name, whole)));
            }
        }
        for (Permission each : granted) {
            if (!isCovered(
                    range(each),
                    needs.stream()
                            .filter(need ->
                                    need.type() == Permission.Type.READWRITE || need.type() == each.getPermType())
                            .map(Need::range)
                            .toList())) {
                notes.accept(side + ": role " + name + " has more than needed: " + each.getPermType() + " of "
                        + shown(range(each)));
            }
        }
        Optional<List<String>> roles = rolesOf(name);
        if (roles.isEmpty()) {
            changes.add(new Change("create user " + name + " with the configured password", () -> addUser(name)));
        } else if (isPasswordWrong()) {
            changes.add(new Change("set the configured password of user " + name, () -> setPassword(name)));
        }
        roles.orElse(List.of()).stream()
                .filter(each -> !each.equals(name))
                .forEach(each -> notes.accept(side + ": user " + name + " also has the role " + each));
        if (!roles.orElse(List.of()).contains(name)) {
            changes.add(new Change(
                    "grant role " + name + " to user " + name,
                    () -> root(
                            AuthGrpc.getUserGrantRoleMethod(),
                            AuthUserGrantRoleRequest.newBuilder()
                                    .setUser(name)
                                    .setRole(name)
                                    .build())));
        }
        return changes;
    }

    private static boolean isCovered(KeyRange range, List<KeyRange> by) {
        List<KeyRange> left = List.of(range);
        for (KeyRange each : by) {
            left = left.stream().flatMap(part -> part.without(each).stream()).toList();
        }
        return left.isEmpty();
    }

    private Optional<List<Permission>> role(String name) {
        return found(
                () -> root(
                                AuthGrpc.getRoleGetMethod(),
                                AuthRoleGetRequest.newBuilder().setRole(name).build())
                        .getPermList(),
                EtcdError.ROLE_NOT_FOUND);
    }

    private Optional<List<String>> rolesOf(String user) {
        return found(
                () -> List.copyOf(root(
                                AuthGrpc.getUserGetMethod(),
                                AuthUserGetRequest.newBuilder().setName(user).build())
                        .getRolesList()),
                EtcdError.USER_NOT_FOUND);
    }

    private interface Reading<T> {
        T read();
    }

    private static <T> Optional<T> found(Reading<T> reading, EtcdError absent) {
        try {
            return Optional.of(reading.read());
        } catch (StatusRuntimeException e) {
            if (error(e) == absent) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Whether a login fails; false if authentication is disabled, so that no login is possible. */
    private boolean isPasswordWrong() {
        try {
            var unused = call(
                    anonymous,
                    AuthGrpc.getAuthenticateMethod(),
                    AuthenticateRequest.newBuilder()
                            .setName(own.user())
                            .setPassword(own.password())
                            .build());
            return false;
        } catch (StatusRuntimeException e) {
            EtcdError error = error(e);
            if (error != EtcdError.LOGIN_FAILED && error != EtcdError.AUTH_NOT_ENABLED) {
                throw e;
            }
            return error == EtcdError.LOGIN_FAILED;
        }
    }

    private void permit(String role, Need need) {
        var unused = root(
                AuthGrpc.getRoleGrantPermissionMethod(),
                AuthRoleGrantPermissionRequest.newBuilder()
                        .setName(role)
                        .setPerm(Permission.newBuilder()
                                .setPermType(need.type())
                                .setKey(need.range().etcdKey())
                                .setRangeEnd(need.range().etcdRangeEnd()))
                        .build());
    }

    private void addUser(String name) {
        var unused = root(
                AuthGrpc.getUserAddMethod(),
                AuthUserAddRequest.newBuilder()
                        .setName(name)
                        .setPassword(own.password())
                        .build());
    }

    private void setPassword(String name) {
        var unused = root(
                AuthGrpc.getUserChangePasswordMethod(),
                AuthUserChangePasswordRequest.newBuilder()
                        .setName(name)
                        .setPassword(own.password())
                        .build());
    }

    private <Q, A> A root(MethodDescriptor<Q, A> method, Q request) {
        return call(asRoot, method, request);
    }

    /** Calls the first endpoint that responds. */
    private <Q, A> A call(EtcdConnections connections, MethodDescriptor<Q, A> method, Q request) {
        @Nullable StatusRuntimeException last = null;
        for (Endpoint endpoint : endpoints) {
            try {
                return connections.call(endpoint, method, request, timeout).get();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof StatusRuntimeException failure)) {
                    throw new IllegalStateException(side + " failed", e.getCause());
                }
                last = failure;
                Status.Code code = failure.getStatus().getCode();
                // A member that hangs does not refuse the connection. What it may have done, the next run finds.
                if (code != Status.Code.UNAVAILABLE && code != Status.Code.DEADLINE_EXCEEDED) {
                    throw failure;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
        throw new IllegalStateException("no endpoint of " + side + " responds: " + endpoints, last);
    }

    private static EtcdError error(StatusRuntimeException failure) {
        return EtcdErrors.classify(Duty.WRITE, failure).error();
    }

    private static KeyRange range(Permission permission) {
        return KeyRange.ofEtcd(permission.getKey(), permission.getRangeEnd());
    }

    private static String shown(KeyRange range) {
        if (range.isAll()) {
            return "all keys";
        }
        if (!range.from().isEmpty() && range.equals(KeyRange.prefix(range.from()))) {
            return "keys with the prefix " + KeyRange.shown(range.from());
        }
        return "keys from " + KeyRange.shown(range.from())
                + (range.to() == null ? "" : " to before " + KeyRange.shown(range.to()));
    }

    @Override
    public void close() {
        asRoot.close();
        anonymous.close();
    }
}
