package io.understudy.mirror.auth;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.certificate.ServerTls;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SecuredCluster;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.tls.TlsFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user without a password logs in at the target by certificate and has its role's permissions.
 *
 * <p>Tests invariant M13.
 */
@Timeout(240)
final class CertificateUsersIT {

    private static final Credentials ROOT = new Credentials(SecuredCluster.ROOT, SecuredCluster.ROOT);

    @TempDir
    private Path folder;

    @Test
    void aCopiedUserLogsInByTheNameInItsCertificate() throws Exception {
        Certificates made = new Certificates(Files.createDirectory(folder.resolve("made")));
        Certificates.Pair server = made.make("server", "EC");
        Certificates.Pair ann = made.make("ann", "EC");
        Path trusted = Files.writeString(
                folder.resolve("trusted.pem"),
                Files.readString(server.certificate()) + Files.readString(ann.certificate()));
        ServerTls tls = new ServerTls(trusted, server.certificate(), server.key(), server.context());
        try (SecuredCluster source = SecuredCluster.start("source", folder.resolve("source"));
                LocalEtcd target = LocalEtcd.builder()
                        .name("target")
                        .fsync(false)
                        .tls(tls)
                        .dataDirectory(folder.resolve("target"))
                        .build()) {
            target.start();
            target.enableAuthentication(SecuredCluster.ROOT);
            source.asRoot("role", "add", "app");
            source.asRoot("role", "grant-permission", "app", "--prefix", "readwrite", "/app/");
            source.asRoot("user", "add", "ann:secret");
            source.asRoot("user", "grant-role", "ann", "app");

            EtcdSettings asRoot = Mirrors.settings(target)
                    .withTls(new TlsFiles(trusted, server.certificate(), server.key()))
                    .withLogin(ROOT);
            EtcdSettings asAnn = Mirrors.settings(target).withTls(new TlsFiles(trusted, ann.certificate(), ann.key()));
            try (MirrorProcess mirror = Mirrors.start(new MirrorSettings.Mirror(
                            "dr",
                            MirrorSettings.Source.Etcd.of(
                                    Mirrors.settings(source.etcd()).withLogin(ROOT)),
                            MirrorScope.prefix("/in/"),
                            MirrorSettings.Target.Etcd.of(asRoot, EtcdSinkOptions.DEFAULTS)
                                    .with(new AuthOptions(
                                            AuthMode.COPY, null, Duration.ofMillis(100), Duration.ofSeconds(5)))));
                    EtcdCluster hers =
                            EtcdCluster.connect(asAnn.withName("ann"), ReservedKeys.RANGE, new SimpleMeterRegistry())) {
                ClusterCalls calls = new ClusterCalls(hers, Duty.WRITE, Duration.ofSeconds(5));
                await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> assertThat(put(calls, "/app/a"))
                        .isPositive());
                // As long as users and roles are being copied, etcd may take the call for one of before.
                await().atMost(PATIENCE).untilAsserted(() -> assertThatThrownBy(() -> put(calls, "/in/a"))
                        .isInstanceOfSatisfying(CallFailedException.class, refused -> assertThat(refused.error())
                                .isEqualTo(EtcdError.PERMISSION_DENIED)));
                assertThat(mirror.failure()).isNotDone();
            }
        }
    }

    private static long put(ClusterCalls calls, String key) throws Exception {
        PutRequest request =
                PutRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)).build();
        return calls.kv(stub -> stub.put(request)).getHeader().getRevision();
    }
}
