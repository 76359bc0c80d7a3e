package io.understudy.tls;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the ports that a process listens at are protected.
 *
 * <p>Invariant T1b: plain text beyond this machine requires an explicit setting.
 *
 * @param files the certificate that is shown, its key, and the authorities of clients; null for plain text
 * @param clients what is wanted of clients
 * @param insecure whether plain text may be spoken with other machines
 */
public record ListenerSecurity(@Nullable TlsFiles files, ClientCertificates clients, boolean insecure) {

    /** Plain text, with this machine only. */
    public static final ListenerSecurity PLAIN = new ListenerSecurity(null, ClientCertificates.NONE, false);

    private static final Setting<Path> CERTIFICATE = Setting.path(
                    "tls.certificate",
                    "PEM file with the server certificate, followed by intermediates. If not set, the listener uses"
                            + " plaintext.")
            .optionally()
            .example("/etc/understudy/server.crt");
    private static final Setting<Path> KEY = Setting.path(
                    "tls.key", "PEM file with the private key of the certificate, in unencrypted PKCS #8.")
            .optionally()
            .example("/etc/understudy/server.key");
    private static final Setting<Path> TRUSTED = Setting.path(
                    "tls.trusted",
                    "PEM file with the CA certificates used to verify client certificates;"
                            + " required unless tls.clients is none.")
            .optionally()
            .example("/etc/understudy/ca.crt");
    private static final Setting<ClientCertificates> CLIENTS = Setting.choice(
                    "tls.clients",
                    ClientCertificates.class,
                    "Client certificate verification. none: not requested. optional: verified if presented. required: clients"
                            + " without a valid certificate are rejected.")
            .defaultsTo(ClientCertificates.NONE);
    private static final Setting<Duration> RELOAD_INTERVAL = TlsFiles.RELOAD_INTERVAL;
    private static final Setting<Boolean> INSECURE = Setting.flag(
                    "insecure",
                    "Allow plaintext connections from other hosts. If false, a listener without tls.certificate is limited"
                            + " to loopback.")
            .defaultsTo(false);

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(CERTIFICATE, KEY, TRUSTED, CLIENTS, RELOAD_INTERVAL, INSECURE);

    public ListenerSecurity {
        if (files != null && files.certificate() == null) {
            throw new IllegalArgumentException(
                    "tls.trusted is " + files.trusted() + "; a listener also requires tls.certificate and tls.key");
        }
        Path trusted = files == null ? null : files.trusted();
        if (clients != ClientCertificates.NONE && trusted == null) {
            throw new IllegalArgumentException("tls.clients is " + spelled(clients)
                    + "; set tls.certificate, tls.key and tls.trusted, the last with the CA certificates of clients");
        }
        if (clients == ClientCertificates.NONE && trusted != null) {
            throw new IllegalArgumentException("tls.trusted is " + trusted
                    + ", but tls.clients is none; set tls.clients to optional or required, or remove tls.trusted");
        }
        if (insecure && files != null) {
            throw new IllegalArgumentException(
                    "insecure is true, but tls.certificate is " + files.certificate() + "; remove one of them");
        }
    }

    /**
     * What {@link #ROWS} say.
     *
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static ListenerSecurity from(Configuration configuration) {
        Optional<Path> trusted = configuration.find(TRUSTED);
        Optional<Path> certificate = configuration.find(CERTIFICATE);
        Optional<Path> key = configuration.find(KEY);
        boolean given = trusted.isPresent() || certificate.isPresent() || key.isPresent();
        return new ListenerSecurity(
                given
                        ? new TlsFiles(
                                trusted.orElse(null),
                                certificate.orElse(null),
                                key.orElse(null),
                                configuration.get(RELOAD_INTERVAL))
                        : null,
                configuration.get(CLIENTS),
                configuration.get(INSECURE));
    }

    /**
     * Checks that what is sent at an address can't be read on its way.
     *
     * @param setting that the address comes from
     * @throws IllegalArgumentException if other machines can reach it, plain text is spoken, and nobody wrote down that
     *     this is wanted
     */
    public void require(String setting, HostPort listen) {
        if (files == null && !insecure && !listen.isLoopback()) {
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
        return files == null ? null : TlsServer.of(files, clients, meters);
    }

    private static String spelled(ClientCertificates clients) {
        return clients.name().toLowerCase(Locale.ROOT);
    }
}
