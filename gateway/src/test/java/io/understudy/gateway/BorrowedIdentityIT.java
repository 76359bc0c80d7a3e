package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.EtcdMethod;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.Writes;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.FreePorts;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.ListenerSecurity;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFileException;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that is root at its source twice over, by token and by certificate, and whose clients are not: whatever they
 * call, they get what they would get from etcd if they were nobody.
 */
@Timeout(120)
final class BorrowedIdentityIT {

    @TempDir
    static Path folder;

    private static FreePorts ports;
    private static LocalEtcd source;
    private static GatewaySettings settings;
    private static Gateway gateway;
    private static Certificates.Pair etcd;
    private static Certificates.Pair root;
    private static Certificates.Pair guest;
    private static Certificates.Pair nobody;
    private static EtcdSettings cluster;

    @BeforeAll
    static void start() throws Exception {
        Certificates certificates = new Certificates(folder);
        etcd = certificates.make("etcd", "EC");
        root = certificates.make("root", "EC");
        guest = certificates.make("guest", "EC");
        nobody = certificates.makeNameless("nobody", "EC");
        Path clients = Files.writeString(
                folder.resolve("clients.crt"),
                Files.readString(etcd.certificate())
                        + Files.readString(root.certificate())
                        + Files.readString(nobody.certificate()));
        ports = FreePorts.take(2);
        String secure = "https://127.0.0.1:" + ports.get(1);
        source = LocalEtcd.builder()
                .name("source")
                .dataDirectory(folder.resolve("etcd"))
                .clientPorts(ports.get(0))
                .fsync(false)
                .extraArguments(
                        "--listen-client-urls=http://127.0.0.1:" + ports.get(0) + "," + secure,
                        "--advertise-client-urls=" + secure,
                        "--cert-file=" + etcd.certificate(),
                        "--key-file=" + etcd.key(),
                        "--trusted-ca-file=" + clients,
                        "--client-cert-auth")
                .build();
        source.start();
        source.enableAuthentication(Users.ROOT);
        cluster = EtcdSettings.of(URI.create(secure))
                .withName("source")
                .withTls(new TlsFiles(etcd.certificate(), root.certificate(), root.key()))
                .withLogin(Users.root());
        settings = GatewaySettings.of(
                        "test",
                        new HostPort("127.0.0.1", 0),
                        new SourceSettings.Etcd(
                                cluster, new TlsFiles(etcd.certificate(), nobody.certificate(), nobody.key())))
                .withForward(ForwardSettings.DEFAULTS.with(Writes.FORWARD))
                .withSecurity(new ListenerSecurity(
                        new TlsFiles(guest.certificate(), etcd.certificate(), etcd.key()),
                        ClientCertificates.OPTIONAL,
                        false));
        gateway = Gateway.start(settings);
    }

    @AfterAll
    static void stop() {
        gateway.close();
        source.close();
        ports.close();
    }

    @Test
    void whateverNobodyCallsHeIsNobodyAtTheSourceToo() {
        ManagedChannel anonymous = channel(gateway.apiPort(), new TlsFiles(etcd.certificate(), null, null));
        try {
            awaitRefusals(anonymous);
            for (EtcdMethod method : EveryCall.PASSED_ON) {
                if (method.fullName().endsWith("/Authenticate")) {
                    assertThat(EveryCall.outcome(anonymous, method)).contains("authentication failed");
                } else {
                    assertThat(EveryCall.outcome(anonymous, method))
                            .as(method.fullName())
                            .isEqualTo("INVALID_ARGUMENT: etcdserver: user name is empty");
                }
            }
        } finally {
            anonymous.shutdownNow();
        }
        assertThat(source.etcdctl("--user=root:root", "user", "list")).isEqualTo("root\n");
        assertThat(source.etcdctl("--user=root:root", "get", "stolen")).isEmpty();
    }

    @Test
    void whoIsKnownByHisCertificateOnlyIsToldThatItIsNotPassedOn() {
        ManagedChannel named =
                channel(gateway.apiPort(), new TlsFiles(etcd.certificate(), guest.certificate(), guest.key()));
        try {
            awaitRefusals(named);
            for (EtcdMethod method : EveryCall.PASSED_ON) {
                if (method.fullName().endsWith("/Authenticate")) {
                    assertThat(EveryCall.outcome(named, method)).contains("authentication failed");
                } else {
                    assertThat(EveryCall.outcome(named, method))
                            .as(method.fullName())
                            .startsWith("PERMISSION_DENIED: understudy: the name in a client certificate");
                }
            }
        } finally {
            named.shutdownNow();
        }
    }

    @Test
    void aCertificateWithANameIsNotTakenForCallsOfOthers() {
        assertThatExceptionOfType(TlsFileException.class)
                .isThrownBy(() -> Gateway.start(
                        GatewaySettings.of("test", new HostPort("127.0.0.1", 0), new SourceSettings.Etcd(cluster))))
                .withMessageContaining(root.certificate().toString())
                .withMessageContaining("its common name is 'root'");
    }

    /** Until it is known that the source asks for names. */
    private static void awaitRefusals(Channel channel) {
        EtcdMethod put = EtcdMethod.named("etcdserverpb.KV/Put");
        await().atMost(GatewayFixture.PATIENCE)
                .until(() -> EveryCall.outcome(channel, put), told -> told.contains("name"));
    }

    private static ManagedChannel channel(int port, TlsFiles files) {
        return NettyChannelBuilder.forAddress("127.0.0.1", port)
                .sslContext(TlsContext.of(files).forGrpc())
                .build();
    }
}
