package io.understudy.tls;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How the ports that a process listens at are protected.
 *
 * <p>Invariant T1b: plain text beyond this machine requires an explicit setting.
 */
public record ListenerSecurity(
        @Configured(
                key = "tls.certificate",
                value = "PEM file with the server certificate, followed by intermediates. If not set, the listener uses"
                        + " plaintext.",
                example = "/etc/understudy/server.crt")
        @Nullable Path certificate,

        @Configured(
                key = "tls.key",
                value = "PEM file with the private key of the certificate, unencrypted.",
                example = "/etc/understudy/server.key")
        @Nullable Path key,

        @Configured(
                key = "tls.trusted",
                value = "PEM file with the CA certificates used to verify client certificates; required unless"
                        + " tls.clients is none.",
                example = "/etc/understudy/ca.crt")
        @Nullable Path trusted,

        @Configured(
                key = "tls.clients",
                value =
                        "Client certificate verification. none: not requested. optional: verified if presented. required:"
                                + " clients without a valid certificate are rejected.",
                byDefault = "none")
        ClientCertificates clients,

        @Configured(key = "tls.reloadInterval", value = TlsFiles.RELOAD_DOC, byDefault = "10s", range = "100ms..1h")
        Duration reloadInterval,

        @Configured(
                value = "Allow plaintext connections from other hosts. If false, a listener without tls.certificate is"
                        + " limited to loopback.",
                byDefault = "false")
        boolean insecure) {

    /** Plain text, with this machine only. */
    public static final ListenerSecurity PLAIN = new ListenerSecurity(null, ClientCertificates.NONE, false);

    public ListenerSecurity {
        TlsFiles files = files(trusted, certificate, key, reloadInterval);
        if (files != null && certificate == null) {
            throw new IllegalArgumentException(
                    "tls.trusted is " + trusted + "; a listener also requires tls.certificate and tls.key");
        }
        if (clients != ClientCertificates.NONE && trusted == null) {
            throw new IllegalArgumentException("tls.clients is " + spelled(clients)
                    + "; set tls.certificate, tls.key and tls.trusted, the last with the CA certificates of clients");
        }
        if (clients == ClientCertificates.NONE && trusted != null) {
            throw new IllegalArgumentException("tls.trusted is " + trusted
                    + ", but tls.clients is none; set tls.clients to optional or required, or remove tls.trusted");
        }
        if (insecure && certificate != null) {
            throw new IllegalArgumentException(
                    "insecure is true, but tls.certificate is " + certificate + "; remove one of them");
        }
    }

    /** Security with the server's files; null for plain text. */
    public ListenerSecurity(@Nullable TlsFiles files, ClientCertificates clients, boolean insecure) {
        this(
                files == null ? null : files.certificate(),
                files == null ? null : files.key(),
                files == null ? null : files.trusted(),
                clients,
                files == null ? TlsFiles.DEFAULT_RELOAD_INTERVAL : files.reloadInterval(),
                insecure);
    }

    /** Returns the presented certificate, its key, and the client authorities; null for plain text. */
    public @Nullable TlsFiles files() {
        return files(trusted, certificate, key, reloadInterval);
    }

    private static @Nullable TlsFiles files(
            @Nullable Path trusted, @Nullable Path certificate, @Nullable Path key, Duration reloadInterval) {
        boolean given = trusted != null || certificate != null || key != null;
        return given ? new TlsFiles(trusted, certificate, key, reloadInterval) : null;
    }

    /**
     * Checks that what is sent at an address can't be read on its way.
     *
     * @param setting that the address comes from
     * @throws IllegalArgumentException if other machines can reach it in plain text, and the settings don't allow that
     */
    public void require(String setting, HostPort listen) {
        if (certificate == null && !insecure && !listen.isLoopback()) {
            throw new IllegalArgumentException(setting + " is " + listen
                    + ", which would accept plaintext from other hosts; set tls.certificate"
                    + " and tls.key, use a loopback address such as 127.0.0.1, or set insecure: true");
        }
    }

    /**
     * What connections are accepted with; null for plain text. To be closed by the caller.
     *
     * @throws TlsFileException if files can't be used
     */
    public @Nullable TlsServer server(MeterRegistry meters) {
        TlsFiles files = files();
        return files == null ? null : TlsServer.of(files, clients, meters);
    }

    private static String spelled(ClientCertificates clients) {
        return clients.name().toLowerCase(Locale.ROOT);
    }
}
