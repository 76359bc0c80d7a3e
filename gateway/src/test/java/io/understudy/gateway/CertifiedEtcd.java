package io.understudy.gateway;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.FreePorts;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/** An etcd that requires client certificates and maps their names to users; the test has a port without TLS. */
final class CertifiedEtcd implements AutoCloseable {

    final LocalEtcd cluster;
    final URI url;
    /** Its own certificate. */
    final Certificates.Pair own;

    private final FreePorts ports;

    /** @param clients trusted certificates */
    CertifiedEtcd(Path folder, Certificates certificates, Certificates.Pair... clients) throws Exception {
        own = certificates.make("etcd", "EC");
        Path trusted = together(folder.resolve("clients-of-etcd.crt"), clients);
        // Its JSON gateway is a client of its own.
        Files.writeString(trusted, Files.readString(trusted) + Files.readString(own.certificate()));
        ports = FreePorts.take(2);
        url = URI.create("https://127.0.0.1:" + ports.get(1));
        cluster = LocalEtcd.builder()
                .name("source")
                .dataDirectory(folder.resolve("etcd"))
                .clientPorts(ports.get(0))
                .fsync(false)
                .extraArguments(
                        "--listen-client-urls=http://127.0.0.1:" + ports.get(0) + "," + url,
                        "--advertise-client-urls=" + url,
                        "--cert-file=" + own.certificate(),
                        "--key-file=" + own.key(),
                        "--trusted-ca-file=" + trusted,
                        "--client-cert-auth")
                .build();
        cluster.start();
    }

    /** Returns the settings of a client with that certificate. */
    EtcdSettings settings(Certificates.Pair client) {
        return EtcdSettings.of(url).withName("source").withTls(files(client));
    }

    TlsFiles files(Certificates.Pair client) {
        return new TlsFiles(own.certificate(), client.certificate(), client.key());
    }

    /** Certificates in one file. */
    static Path together(Path file, Certificates.Pair... pairs) throws IOException {
        StringBuilder all = new StringBuilder();
        for (Certificates.Pair each : pairs) {
            all.append(Files.readString(each.certificate()));
        }
        return Files.writeString(file, all);
    }

    /** Returns a channel to a local port with TLS by {@code files}. */
    static ManagedChannel channel(int port, TlsFiles files) {
        return NettyChannelBuilder.forAddress("127.0.0.1", port)
                .sslContext(TlsContext.of(files).forGrpc())
                .build();
    }

    @Override
    public void close() {
        cluster.close();
        ports.close();
    }
}
