package io.understudy.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.local.certificate.Certificates;
import io.understudy.local.certificate.ServerTls;
import io.understudy.local.kafka.LocalKafka;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLContext;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client of a real broker that requests certificates, while its own is replaced.
 *
 * <p>Tests invariant T2b.
 */
@Timeout(180)
@Tag("variants")
final class ReloadedCertificatesIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private Certificates.Pair trusted;
    private Certificates.Pair stranger;
    private KafkaSettings settings;

    @BeforeEach
    void make() throws Exception {
        Certificates certificates = new Certificates(Files.createDirectory(folder.resolve("made")));
        trusted = certificates.make("trusted", "EC");
        stranger = certificates.make("stranger", "EC");
    }

    @Test
    void aNewCertificateCountsForTheNextConnectionAndADamagedOneChangesNothing() throws Exception {
        ServerTls tls =
                new ServerTls(trusted.certificate(), trusted.certificate(), trusted.key(), SSLContext.getDefault());
        try (LocalKafka broker = LocalKafka.builder()
                .dataDirectory(folder.resolve("kafka"))
                .tls(tls)
                .build()) {
            broker.start();
            use(stranger);
            settings = settings(broker.bootstrapServers());
            try (Admin admin = new KafkaClients(settings, "test").admin()) {
                assertThatThrownBy(() -> clusterId(admin)).hasCauseInstanceOf(SslAuthenticationException.class);

                use(trusted);
                await().atMost(PATIENCE).ignoreExceptions().until(() -> !clusterId(admin)
                        .isEmpty());

                replace("not a certificate");
                broker.restart();
                await().atMost(PATIENCE).ignoreExceptions().until(() -> !clusterId(admin)
                        .isEmpty());
                assertThat(clusterId(admin)).isNotEmpty();
            }
        }
    }

    private static String clusterId(Admin admin) throws InterruptedException, ExecutionException {
        return admin.describeCluster().clusterId().get();
    }

    private KafkaSettings settings(String bootstrapServers) throws IOException {
        Path file = Files.writeString(folder.resolve("client.properties"), """
                security.protocol=SSL
                ssl.keystore.type=PEM
                ssl.keystore.location=%s
                ssl.truststore.type=PEM
                ssl.truststore.location=%s
                """.formatted(
                        folder.resolve("client.pem"), trusted.certificate()));
        return new KafkaSettings(bootstrapServers, file, Duration.ofSeconds(5));
    }

    private void use(Certificates.Pair pair) throws IOException {
        replace(Files.readString(pair.key()) + Files.readString(pair.certificate()));
    }

    /** In one step, as certificate managers do. */
    private void replace(String text) throws IOException {
        Path next = Files.writeString(folder.resolve("client.pem.new"), text);
        Files.move(next, folder.resolve("client.pem"), StandardCopyOption.ATOMIC_MOVE);
    }
}
