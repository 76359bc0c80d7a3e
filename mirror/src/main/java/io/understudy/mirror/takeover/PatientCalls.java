package io.understudy.mirror.takeover;

import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmResponse;
import io.etcd.jetcd.api.AuthDisableRequest;
import io.etcd.jetcd.api.AuthEnableRequest;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleGetRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthRoleListRequest;
import io.etcd.jetcd.api.AuthRoleRevokePermissionRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserChangePasswordRequest;
import io.etcd.jetcd.api.AuthUserGetRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.AuthUserListRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractBlockingStub;
import io.grpc.stub.MetadataUtils;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls the voters of one cluster, and repeats failed attempts elsewhere until the patience is over. Each attempt has the
 * cluster's request timeout. Every call here must be idempotent.
 *
 * <p>Blocking. Thread-safe.
 */
public final class PatientCalls implements TakeOverCalls {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final String ROOT = "root";
    private static final int ALIVE_AT_A_TIME = 500;
    private static final int MOST_AT_ONCE = 8;
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final EtcdCluster cluster;
    private final @Nullable Credentials credentials;
    private final Duration patience;
    private final ClusterCalls calls;
    private final Lock lock;

    /**
     * Calls on {@code cluster}, which stays the caller's to close.
     *
     * @param credentials null for none, or those of the certificate
     * @param patience for how long a call is repeated that isn't answered
     */
    public PatientCalls(EtcdCluster cluster, @Nullable Credentials credentials, Duration patience) {
        this(cluster, credentials, patience, new Lock(""));
    }

    /** @param lock required before each attempt, once it is taken */
    PatientCalls(EtcdCluster cluster, @Nullable Credentials credentials, Duration patience, Lock lock) {
        this.lock = lock;
        this.cluster = cluster;
        this.credentials = credentials;
        this.patience = patience;
        this.calls = new ClusterCalls(cluster, Duty.WRITE, cluster.settings().requestTimeout());
    }

    @Override
    public String shown() {
        return cluster.settings().name() + " " + cluster.settings().endpoints();
    }

    @Override
    public @Nullable Credentials login() {
        return cluster.settings().login();
    }

    public EtcdCluster cluster() {
        return cluster;
    }

    @Override
    public PatientCalls with(Duration otherPatience) {
        return new PatientCalls(cluster, credentials, otherPatience, lock);
    }

    @Override
    public RangeResponse range(RangeRequest request) {
        return call("a read", KVGrpc::newBlockingStub, stub -> stub.range(request));
    }

    @Override
    public TxnResponse txn(String what, TxnRequest request) {
        return call(what, KVGrpc::newBlockingStub, stub -> stub.txn(request));
    }

    @Override
    public AlarmResponse alarm(AlarmRequest request) {
        return call("an alarm request", MaintenanceGrpc::newBlockingStub, stub -> stub.alarm(request));
    }

    /** Tested by a login that fails: jetcd's messages lack the call for it. */
    @Override
    public boolean isAuthEnabled() {
        try {
            var unused = patiently(
                    "a login",
                    () -> calls.call(channel -> within(AuthGrpc.newBlockingStub(channel))
                            .authenticate(AuthenticateRequest.newBuilder()
                                    .setName("understudy")
                                    .setPassword("-")
                                    .build())));
            return true;
        } catch (TakeOverException e) {
            if (error(e) == EtcdError.AUTH_NOT_ENABLED || error(e) == EtcdError.LOGIN_FAILED) {
                return error(e) == EtcdError.LOGIN_FAILED;
            }
            // No answer is none: a cluster taken for closed would be left open.
            throw e;
        }
    }

    @Override
    public List<String> roles() {
        return auth("the list of roles", stub -> stub.roleList(AuthRoleListRequest.getDefaultInstance()))
                .getRolesList();
    }

    @Override
    public List<Permission> permissions(String role) {
        AuthRoleGetRequest request =
                AuthRoleGetRequest.newBuilder().setRole(role).build();
        return auth("role " + role, stub -> stub.roleGet(request)).getPermList();
    }

    @Override
    public void grant(String role, Permission permission) {
        AuthRoleGrantPermissionRequest request = AuthRoleGrantPermissionRequest.newBuilder()
                .setName(role)
                .setPerm(permission)
                .build();
        var unused = auth("a grant to role " + role, stub -> stub.roleGrantPermission(request));
    }

    @Override
    public void revoke(String role, Permission permission) {
        AuthRoleRevokePermissionRequest request = AuthRoleRevokePermissionRequest.newBuilder()
                .setRole(role)
                .setKey(permission.getKey())
                .setRangeEnd(permission.getRangeEnd())
                .build();
        unless(EtcdError.PERMISSION_NOT_GRANTED, () -> {
            var unused = auth("a revocation from role " + role, stub -> stub.roleRevokePermission(request));
        });
    }

    @Override
    public List<String> users() {
        return auth("the list of users", stub -> stub.userList(AuthUserListRequest.getDefaultInstance()))
                .getUsersList();
    }

    @Override
    public List<String> rolesOf(String user) {
        AuthUserGetRequest request =
                AuthUserGetRequest.newBuilder().setName(user).build();
        return auth("user " + user, stub -> stub.userGet(request)).getRolesList();
    }

    @Override
    public void addRoot(String user, String password) {
        if (!roles().contains(ROOT)) {
            AuthRoleAddRequest role =
                    AuthRoleAddRequest.newBuilder().setName(ROOT).build();
            unless(EtcdError.ROLE_EXISTS, () -> {
                var unused = auth("role root", stub -> stub.roleAdd(role));
            });
        }
        if (!users().contains(user)) {
            AuthUserAddRequest added = AuthUserAddRequest.newBuilder()
                    .setName(user)
                    .setPassword(password)
                    .build();
            unless(EtcdError.USER_EXISTS, () -> {
                var unused = auth("user " + user, stub -> stub.userAdd(added));
            });
        } else {
            AuthUserChangePasswordRequest changed = AuthUserChangePasswordRequest.newBuilder()
                    .setName(user)
                    .setPassword(password)
                    .build();
            var unused = auth("the password of user " + user, stub -> stub.userChangePassword(changed));
        }
        if (!rolesOf(user).contains(ROOT)) {
            AuthUserGrantRoleRequest granted = AuthUserGrantRoleRequest.newBuilder()
                    .setUser(user)
                    .setRole(ROOT)
                    .build();
            var unused = auth("role root of user " + user, stub -> stub.userGrantRole(granted));
        }
    }

    @Override
    public void enableAuth() {
        var unused = auth("authentication", stub -> stub.authEnable(AuthEnableRequest.getDefaultInstance()));
    }

    @Override
    public void disableAuth() {
        unless(EtcdError.AUTH_NOT_ENABLED, () -> {
            var unused = auth(
                    "the end of authentication", stub -> stub.authDisable(AuthDisableRequest.getDefaultInstance()));
        });
    }

    private <T> T auth(String what, Function<AuthGrpc.AuthBlockingStub, T> call) {
        return call(what, AuthGrpc::newBlockingStub, call);
    }

    /** What is done already. */
    private static void unless(EtcdError done, Runnable call) {
        try {
            call.run();
        } catch (TakeOverException e) {
            if (error(e) != done) {
                throw e;
            }
        }
    }

    private static @Nullable EtcdError error(TakeOverException e) {
        return e.getCause() instanceof CallFailedException failed ? failed.error() : null;
    }

    @Override
    public long grantLease(Duration ttl) {
        LeaseGrantRequest request = LeaseGrantRequest.newBuilder()
                .setTTL(ttl.plusMillis(999).toSeconds())
                .build();
        return call("a lease", LeaseGrpc::newBlockingStub, stub -> stub.leaseGrant(request))
                .getID();
    }

    @Override
    public void revokeLease(long lease) {
        LeaseRevokeRequest request =
                LeaseRevokeRequest.newBuilder().setID(lease).build();
        unless(EtcdError.LEASE_NOT_FOUND, () -> {
            var unused = call("the end of a lease", LeaseGrpc::newBlockingStub, stub -> stub.leaseRevoke(request));
        });
    }

    /**
     * Calls, and again until it is answered.
     *
     * @param what is called, for errors
     * @throws TakeOverException refused, or not answered in time
     */
    public <S extends AbstractBlockingStub<S>, T> T call(String what, Function<Channel, S> stubs, Function<S, T> call) {
        return patiently(what, () -> calls.call(channel -> call.apply(within(stubs.apply(authenticated(channel))))));
    }

    @Override
    public List<Long> keepAlive(List<Long> leases) {
        List<Supplier<List<Long>>> requests = new ArrayList<>();
        // One attempt for tens of thousands exceeds the request timeout.
        for (int first = 0; first < leases.size(); first += ALIVE_AT_A_TIME) {
            List<Long> some = leases.subList(first, Math.min(leases.size(), first + ALIVE_AT_A_TIME));
            requests.add(() -> patiently("lease keep-alives", () -> {
                List<Long> answered = Collections.synchronizedList(new ArrayList<>());
                calls.keepAlive(some, Integer.MAX_VALUE, (lease, seconds) -> {
                    if (seconds > 0) {
                        answered.add(lease);
                    }
                });
                return List.copyOf(answered);
            }));
        }
        return together(requests).stream().flatMap(List::stream).toList();
    }

    @Override
    public <T> List<T> together(List<Supplier<T>> requests) {
        if (requests.size() < 2) {
            return TakeOverCalls.super.together(requests);
        }
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(MOST_AT_ONCE, requests.size()), work -> {
            Thread thread = new Thread(work, "takeover-" + cluster.settings().name());
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> each : threads.invokeAll(
                    requests.stream().<Callable<T>>map(request -> request::get).toList())) {
                results.add(each.get());
            }
            return results;
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failed) {
                throw failed;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            var unused = threads.shutdownNow();
        }
    }

    /** The connection, carrying the credentials' token. The caller handles a failed call. */
    Channel authenticated(Channel channel) {
        if (credentials == null) {
            return channel;
        }
        try {
            return tokened(channel, tokenFrom(channel));
        } catch (StatusRuntimeException e) {
            if (EtcdErrors.classify(Duty.WRITE, e.getStatus()).error() == EtcdError.AUTH_NOT_ENABLED) {
                return channel;
            }
            throw e;
        }
    }

    /** Returns a connection with a token of another member: learners issue none. */
    public Channel authenticatedElsewhere(Channel member) {
        if (credentials == null) {
            return member;
        }
        String token = patiently("a token", () -> calls.call(this::tokenFrom));
        return tokened(member, token);
    }

    private String tokenFrom(Channel channel) {
        if (credentials == null) {
            throw new IllegalStateException("no credentials");
        }
        // The member list may have any address.
        cluster.endpointsFor(Duty.WRITE).stream()
                .filter(endpoint -> !cluster.settings().mayLogInAt(endpoint))
                .findFirst()
                .ifPresent(endpoint -> {
                    throw new TakeOverException(
                            "a password would be sent in plain text to " + endpoint
                                    + ", another machine that only the member list names; use https, or name it among the endpoints");
                });
        return within(AuthGrpc.newBlockingStub(channel))
                .authenticate(AuthenticateRequest.newBuilder()
                        .setName(credentials.user())
                        .setPassword(credentials.password())
                        .build())
                .getToken();
    }

    private static Channel tokened(Channel channel, String token) {
        Metadata headers = new Metadata();
        headers.put(TOKEN, token);
        return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private <S extends AbstractBlockingStub<S>> S within(S stub) {
        return stub.withDeadlineAfter(
                lock.within(cluster.settings().requestTimeout()).toNanos(), TimeUnit.NANOSECONDS);
    }

    private <T> T patiently(String what, Attempt<T> attempt) {
        long began = System.nanoTime();
        CallFailedException unanswered = null;
        while (true) {
            lock.require();
            try {
                return attempt.run();
            } catch (InterruptedException e) {
                throw interrupted(e);
            } catch (CallFailedException e) {
                if (e.isFinal()) {
                    if (unanswered != null) {
                        e.addSuppressed(unanswered);
                    }
                    throw new TakeOverException(shown() + " refuses " + what + ": " + e.getMessage(), e);
                }
                Duration waited = Duration.ofNanos(System.nanoTime() - began);
                if (waited.compareTo(patience) > 0 || lock.isEnding()) {
                    throw new TakeOverException(
                            shown() + " did not answer " + what + " within " + waited.toSeconds() + " s; the last: "
                                    + e.getMessage(),
                            isLoginFailed(unanswered) ? unanswered : e);
                }
                unanswered = isLoginFailed(unanswered) ? unanswered : e;
            }
            pause(PAUSE);
        }
    }

    /** Then the cluster responds, although later attempts at other members may get no response. */
    private static boolean isLoginFailed(@Nullable CallFailedException failed) {
        return failed != null && failed.error() == EtcdError.LOGIN_FAILED;
    }

    /** Waits for a moment. */
    static void pause(Duration time) {
        try {
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static TakeOverException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new TakeOverException("interrupted", e);
    }

    private interface Attempt<T> {
        T run() throws CallFailedException, InterruptedException;
    }
}
