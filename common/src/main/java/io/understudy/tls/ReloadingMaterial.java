package io.understudy.tls;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.metrics.CommonMeter;
import io.understudy.tls.TlsMaterial.CurrentKeys;
import io.understudy.tls.TlsMaterial.CurrentTrust;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keys and trust of one side, read again when its files change. Unusable files change nothing: the previous contents
 * stay valid, and they are read once they change again.
 *
 * <p>Changes are detected by content: certificates are replaced by renaming, by links, or with preserved times.
 *
 * <p>Invariant T2: replaced files apply to new connections, resumed sessions included; open connections stay, and
 * unusable files change nothing.
 */
final class ReloadingMaterial implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ReloadingMaterial.class);

    private final String name;
    private final TlsMetrics metrics;
    private final boolean nameless;
    private final @Nullable ScheduledExecutorService thread;
    private volatile Runnable reloaded = () -> {};
    private volatile TlsMaterial current;
    private volatile TlsMaterial previous;

    /** Confined to the thread. */
    private String contents;

    /** Whether the last look reloaded the files. Likewise. */
    private boolean repeats;

    private long generation;

    /**
     * Reads the files, and keeps watching them.
     *
     * @param name what logs and metrics call this side
     * @param files null for the platform's trust and no certificate of our own
     * @param nameless whether the certificate must have no common name
     * @throws TlsFileException if a file is missing, damaged, or doesn't fit the others
     */
    ReloadingMaterial(String name, @Nullable TlsFiles files, boolean nameless, MeterRegistry meters) {
        this.name = name;
        this.nameless = nameless;
        // Before the files are read: what changes in between is read again.
        this.contents = contents(files);
        this.current = read(files);
        this.previous = current;
        this.metrics = new TlsMetrics(meters, name, () -> current.expires());
        this.thread = files == null ? null : watch(files);
    }

    /** Presents the current certificate. */
    X509ExtendedKeyManager keys() {
        return new CurrentKeys(() -> current.keys(), () -> previous.keys());
    }

    /** Verifies by the current authorities. */
    X509ExtendedTrustManager trust() {
        return new CurrentTrust(() -> current.trust());
    }

    /** Whether there is a certificate to present. */
    boolean hasKeys() {
        return current.keys() != null;
    }

    TlsMetrics metrics() {
        return metrics;
    }

    /**
     * Runs {@code what} after each reload, and again at the next look. Both run on a thread of this object. A handshake
     * that began with the previous files may store its session after the reload.
     */
    void onReload(Runnable what) {
        reloaded = what;
    }

    @Override
    public void close() {
        if (thread != null) {
            thread.shutdownNow();
        }
        metrics.close();
    }

    private ScheduledExecutorService watch(TlsFiles watched) {
        ScheduledExecutorService looking =
                Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("tls-" + name));
        long pause = watched.reloadInterval().toNanos();
        var unused = looking.scheduleWithFixedDelay(() -> look(watched), pause, pause, TimeUnit.NANOSECONDS);
        return looking;
    }

    private void look(TlsFiles watched) {
        try {
            String now = contents(watched);
            if (!now.equals(contents)) {
                contents = now;
                reload(watched);
            } else if (repeats) {
                repeats = false;
                reloaded.run();
            }
        } catch (RuntimeException e) {
            // The timer would never look again.
            LOG.atWarn()
                    .addKeyValue("name", name)
                    .addKeyValue("files", watched.all())
                    .setCause(e)
                    .log("TLS file check failed");
        }
    }

    private void reload(TlsFiles watched) {
        TlsMaterial next;
        try {
            next = read(watched);
        } catch (TlsFileException e) {
            metrics.reloaded(false);
            LOG.atWarn()
                    .addKeyValue("name", name)
                    .addKeyValue("cause", e.getMessage())
                    .log("TLS reload failed; keeping previous certificates");
            return;
        }
        previous = current;
        current = next;
        reloaded.run();
        repeats = true;
        metrics.reloaded(true);
        LOG.atInfo()
                .addKeyValue("name", name)
                .addKeyValue("files", watched.all())
                .addKeyValue("expires", next.expires())
                .log("TLS files reloaded");
    }

    private TlsMaterial read(@Nullable TlsFiles files) {
        if (nameless && files != null) {
            files.requireNameless();
        }
        return TlsMaterial.read(files, alias());
    }

    /** A unique alias, so that no handshake combines a key with another key's certificate. */
    private String alias() {
        return "own-" + generation++;
    }

    /** Distinguishes contents without keeping them. */
    private static String contents(@Nullable TlsFiles files) {
        if (files == null) {
            return "";
        }
        MessageDigest digest = sha256();
        for (Path file : files.all()) {
            byte[] held;
            try {
                held = Files.readAllBytes(file);
            } catch (IOException e) {
                held = new byte[0];
            }
            digest.update((held.length + ":").getBytes(StandardCharsets.US_ASCII));
            digest.update(held);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }

    /** Metrics of one side's certificates, with the tag {@code name}: the cluster, or {@code listener}. */
    static final class TlsMetrics implements AutoCloseable {

        private final MeterRegistry registry;
        private final String name;
        private final @Nullable Meter expiry;

        TlsMetrics(MeterRegistry registry, String name, Supplier<@Nullable Instant> expires) {
            this.registry = registry;
            this.name = name;
            // There from the start: what appears with the first failure could not be seen to increase.
            count(CommonMeter.TLS_RELOADS, false, 0);
            this.expiry = expires.get() == null
                    ? null
                    : CommonMeter.TLS_EXPIRY
                            .gauge(() -> seconds(expires.get()))
                            .tag("name", name)
                            .register(registry);
        }

        void reloaded(boolean used) {
            count(CommonMeter.TLS_RELOADS, used, 1);
        }

        void shookHands(boolean done) {
            count(CommonMeter.TLS_HANDSHAKES, done, 1);
        }

        private void count(CommonMeter what, boolean ok, int times) {
            what.counter()
                    .tags("name", name, "outcome", ok ? "ok" : "failed")
                    .register(registry)
                    .increment(times);
        }

        private static double seconds(@Nullable Instant expires) {
            return expires == null
                    ? Double.NaN
                    : Duration.between(Instant.now(), expires).toSeconds();
        }

        /** Removes the gauge, which would retain the certificates. */
        @Override
        public void close() {
            if (expiry != null) {
                registry.remove(expiry);
            }
        }
    }
}
