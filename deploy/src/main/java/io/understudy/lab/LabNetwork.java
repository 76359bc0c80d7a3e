package io.understudy.lab;

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
 */
record LabNetwork(LabPorts ports, @Nullable LabCertificates certificates) {

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

    @Nullable ServerTls server(String part) {
        return certificates == null ? null : certificates.server(part);
    }
}
