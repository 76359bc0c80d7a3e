package io.understudy.mirror.auth;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.AuthStatus;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.scope.ReservedKeys;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A cluster's users and roles, read as root, or without credentials where authentication is disabled. */
final class AuthSide implements AutoCloseable {

    private final EtcdCluster cluster;
    private final AuthCalls calls;

    private AuthSide(EtcdCluster cluster) {
        this.cluster = cluster;
        this.calls = new AuthCalls(cluster);
        await().atMost(PATIENCE).ignoreExceptions().until(() -> calls.status() != null);
    }

    static AuthSide of(LocalEtcd cluster, @Nullable Credentials login) {
        EtcdSettings settings = Mirrors.settings(cluster).withName(cluster.name());
        return new AuthSide(EtcdCluster.connect(
                login == null ? settings : settings.withLogin(login), ReservedKeys.RANGE, new SimpleMeterRegistry()));
    }

    EtcdCluster cluster() {
        return cluster;
    }

    AuthCalls calls() {
        return calls;
    }

    Authorisation held() throws Exception {
        return calls.read();
    }

    AuthStatus status() throws Exception {
        return calls.status();
    }

    /** Whether a login by name and password succeeds. */
    boolean letsIn(String user, String password) {
        try {
            var unused = AuthGrpc.newBlockingStub(
                            cluster.channel(cluster.endpointsFor(Duty.WRITE).get(0)))
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .authenticate(AuthenticateRequest.newBuilder()
                            .setName(user)
                            .setPassword(password)
                            .build());
            return true;
        } catch (StatusRuntimeException e) {
            if (String.valueOf(e.getMessage()).contains("authentication failed")) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        cluster.close();
    }
}
