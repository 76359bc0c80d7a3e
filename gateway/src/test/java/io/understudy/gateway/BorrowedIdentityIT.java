package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.EtcdMethod;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.server.Unhurried;
import io.understudy.local.certificate.Certificates;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.ListenerSecurity;
import io.understudy.tls.TlsFileException;
import io.understudy.tls.TlsFiles;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that is root at its source, by token and by certificate. Its anonymous clients receive the answers that etcd
 * gives to anonymous clients.
 *
 * <p>Tests invariant P3.
 */
@Timeout(120)
final class BorrowedIdentityIT {

    @TempDir
    static Path folder;

    private static CertifiedEtcd source;
    private static GatewaySettings settings;
    private static Gateway gateway;
    private static Certificates.Pair root;
    private static Certificates.Pair guest;
    private static Certificates.Pair nameless;
    private static EtcdSettings cluster;

    @BeforeAll
    static void start() throws Exception {
        Certificates certificates = new Certificates(folder);
        root = certificates.make("root", "EC");
        guest = certificates.make("guest", "EC");
        nameless = certificates.makeNameless("nameless", "EC");
        source = new CertifiedEtcd(folder, certificates, root, nameless);
        source.cluster.enableAuthentication(Users.ROOT);
        cluster = source.settings(root).withLogin(Users.root());
        settings = GatewaySettings.of(
                        "test", new HostPort("127.0.0.1", 0), new SourceSettings.Etcd(cluster, source.files(nameless)))
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD))
                .with(new ListenerSecurity(
                        new TlsFiles(guest.certificate(), source.own.certificate(), source.own.key()),
                        ClientCertificates.OPTIONAL,
                        false));
        gateway = Gateway.start(settings);
    }

    @AfterAll
    static void stop() {
        gateway.close();
        source.close();
    }

    @Test
    void forwardedCallsOfAnonymousClientsStayAnonymous() {
        ManagedChannel anonymous =
                CertifiedEtcd.channel(gateway.apiPort(), new TlsFiles(source.own.certificate(), null, null));
        try {
            awaitRefusals(anonymous);
            for (EtcdMethod method : EveryCall.PASSED_ON) {
                if (method.fullName().endsWith("/Authenticate")) {
                    assertThat(EveryCall.outcome(anonymous, method)).contains("authentication failed");
                } else {
                    assertThat(EveryCall.outcome(anonymous, method))
                            .as(method.fullName())
                            .isEqualTo(isForAnyone(method) ? "OK" : "INVALID_ARGUMENT: etcdserver: user name is empty");
                }
            }
        } finally {
            anonymous.shutdownNow();
        }
        assertThat(source.cluster.etcdctl("--user=root:root", "user", "list")).isEqualTo("root\n");
        assertThat(source.cluster.etcdctl("--user=root:root", "get", "stolen")).isEmpty();
    }

    @Test
    void forwardedCallsByCertificateOnlyAreRejectedWithTheReason() {
        ManagedChannel named = CertifiedEtcd.channel(gateway.apiPort(), source.files(guest));
        try {
            awaitRefusals(named);
            for (EtcdMethod method : EveryCall.PASSED_ON) {
                if (method.fullName().endsWith("/Authenticate")) {
                    assertThat(EveryCall.outcome(named, method)).contains("authentication failed");
                } else {
                    assertThat(EveryCall.outcome(named, method))
                            .as(method.fullName())
                            .startsWith(
                                    isForAnyone(method)
                                            ? "OK"
                                            : "PERMISSION_DENIED: understudy: the name in a client certificate");
                }
            }
        } finally {
            named.shutdownNow();
        }
    }

    @Test
    void aGatewayCertificateWithACommonNameFailsTheStart() {
        assertThatExceptionOfType(TlsFileException.class)
                .isThrownBy(() -> Gateway.start(
                        GatewaySettings.of("test", new HostPort("127.0.0.1", 0), new SourceSettings.Etcd(cluster))))
                .withMessageContaining(root.certificate().toString())
                .withMessageContaining("its common name is 'root'");
    }

    @Test
    void aGatewayMayBeAUserByItsCertificateAlone() throws Exception {
        GatewaySettings certified = GatewaySettings.of(
                        "test",
                        new HostPort("127.0.0.1", 0),
                        new SourceSettings.Etcd(source.settings(root), source.files(nameless)))
                .with(Unhurried.LIMITS)
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD));
        try (GatewayFixture fixture = new GatewayFixture(Gateway.start(certified))) {
            fixture.awaitReady();
            await().atMost(GatewayFixture.PATIENCE)
                    .untilAsserted(() -> assertThatExceptionOfType(StatusRuntimeException.class)
                            .isThrownBy(() -> fixture.everything())
                            .withMessageContaining("user name is empty"));
            assertThat(fixture.etcdctl("--user=root:root", "get", "nothing")).isEmpty();
        }
    }

    /** Whether etcd answers anonymous clients. */
    private static boolean isForAnyone(EtcdMethod method) {
        if (!method.fullName().endsWith("/AuthStatus")) {
            return false;
        }
        ManagedChannel direct = CertifiedEtcd.channel(source.url.getPort(), source.files(nameless));
        try {
            return EveryCall.outcome(direct, method).equals("OK");
        } finally {
            direct.shutdownNow();
        }
    }

    /** Waits until the gateway has detected that the source requires authentication. */
    private static void awaitRefusals(Channel channel) {
        EtcdMethod put = EtcdMethod.named("etcdserverpb.KV/Put");
        await().atMost(GatewayFixture.PATIENCE)
                .until(() -> EveryCall.outcome(channel, put), refusal -> refusal.contains("name"));
    }
}
