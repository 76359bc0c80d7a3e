package io.understudy.lab;

import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.local.certificate.ServerTls;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * How the parts of a lab reach each other.
 *
 * @param certificates null for plain text
 * @param users null without authentication
 */
record LabNetwork(
        LabPorts ports,
        @Nullable LabCertificates certificates,
        @Nullable LabUsers users) {

    /** {@code host:port}. */
    String address(LabPort port) {
        return ports.address(port);
    }

    int number(LabPort port) {
        return ports.number(port);
    }

    /** {@code http://host:port}, or {@code https}. */
    URI url(LabPort port) {
        return URI.create((certificates == null ? "http://" : "https://") + address(port));
    }

    @Nullable TlsFiles files(String part) {
        return certificates == null ? null : certificates.files(part);
    }

    /** How to reach a server as a client without a name. */
    EtcdSettings client(LabPort server, String part) {
        EtcdSettings plain = EtcdSettings.of(url(server));
        TlsFiles files = files(part);
        return files == null ? plain : plain.withTls(files);
    }

    /** How to reach one as that user, where users are. */
    EtcdSettings client(LabPort server, String part, String user) {
        EtcdSettings nameless = client(server, part);
        return users == null ? nameless : nameless.withLogin(users.login(user));
    }

    @Nullable ServerTls server(String part) {
        return certificates == null ? null : certificates.server(part);
    }
}
