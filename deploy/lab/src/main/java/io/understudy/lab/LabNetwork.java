package io.understudy.lab;

import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.local.certificate.ServerTls;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Addresses and credentials of the parts of a lab.
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

    /** Returns the settings of a client without a user. */
    EtcdSettings client(LabPort server, String part) {
        EtcdSettings plain = EtcdSettings.of(url(server));
        TlsFiles files = files(part);
        return files == null ? plain : plain.withTls(files);
    }

    /** Returns the settings of a client, with the user if the lab has authentication. */
    EtcdSettings client(LabPort server, String part, String user) {
        EtcdSettings nameless = client(server, part);
        return users == null ? nameless : nameless.withLogin(users.login(user));
    }

    @Nullable ServerTls server(String part) {
        return certificates == null ? null : certificates.server(part);
    }
}
