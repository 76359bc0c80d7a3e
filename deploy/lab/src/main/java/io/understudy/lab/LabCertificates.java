package io.understudy.lab;

import io.understudy.lab.failure.LabException;
import io.understudy.local.certificate.ServerTls;
import io.understudy.pki.PkiDirectory;
import io.understudy.pki.Subject;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;

/**
 * Certificates of a lab's parts, of one authority and valid on this machine only.
 *
 * <p>Each is issued on first use, and kept.
 *
 * <p>Invariant DP11: with TLS, every part of a lab uses it and accepts only certificates of the lab.
 */
final class LabCertificates {

    private static final Duration AUTHORITY = Duration.ofDays(3650);
    private static final Duration VALIDITY = Duration.ofDays(365);
    /** With authentication and without a token, etcd maps these common names to its users. */
    private static final Set<String> NAMED = Set.of(LabUsers.GATEWAY, LabUsers.MIRROR, LabUsers.OWN);

    private static final List<String> HOSTS = List.of("127.0.0.1", "localhost");

    private final Path folder;
    private final PkiDirectory pki;

    /** @param folder folder of all certificates */
    LabCertificates(Path folder) {
        this.folder = folder;
        this.pki = new PkiDirectory(folder);
        if (!Files.exists(folder.resolve("ca.crt"))) {
            PkiDirectory.Written unused = pki.init("Understudy lab", 0, AUTHORITY);
        }
    }

    /** Whether the folder has a lab's certificates. */
    static boolean existIn(Path folder) {
        return Files.exists(folder.resolve("ca.crt"));
    }

    /** Returns the files of a part. The subject is empty unless it is the name of a user of etcd. */
    TlsFiles files(String part) {
        Path certificate = folder.resolve(part + ".crt");
        if (!Files.exists(certificate)) {
            PkiDirectory.Written unused = pki.issue(
                    part,
                    new Subject(NAMED.contains(part) ? part : null, HOSTS, EnumSet.allOf(Subject.Use.class), VALIDITY));
        }
        return new TlsFiles(authority(), certificate, folder.resolve(part + ".key"));
    }

    Path authority() {
        return folder.resolve("ca.crt");
    }

    /** Returns the TLS settings of an external server, and of this process as its client. */
    ServerTls server(String part) {
        TlsFiles own = files(part);
        try (TlsContext client = TlsContext.of(own)) {
            SSLContext platform =
                    client.applyTo(HttpClient.newBuilder()).build().sslContext();
            return new ServerTls(authority(), folder.resolve(part + ".crt"), folder.resolve(part + ".key"), platform);
        }
    }

    /** Returns the properties file for Kafka's clients, which names the file with certificate and key. */
    Path kafkaClient(String part) {
        TlsFiles own = files(part);
        Path store = folder.resolve(part + ".pem");
        Path settings = folder.resolve(part + "-kafka.properties");
        try {
            Files.deleteIfExists(store);
            Files.createFile(store, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(
                    store,
                    Files.readString(folder.resolve(part + ".key")) + Files.readString(folder.resolve(part + ".crt")));
            Files.writeString(settings, """
                    security.protocol=SSL
                    ssl.truststore.type=PEM
                    ssl.truststore.location=%s
                    ssl.keystore.type=PEM
                    ssl.keystore.location=%s
                    """.formatted(own.trusted(), store));
        } catch (IOException e) {
            throw new LabException("cannot write " + settings + ": " + e.getMessage(), e);
        }
        return settings;
    }
}
