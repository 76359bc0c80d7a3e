package io.understudy.kafka;

import java.security.KeyStore;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's TLS engines, with changed files reloaded for new connections. Kafka's clients read them only at creation;
 * brokers reload theirs (KIP-226).
 *
 * <p>Public, with this constructor, because Kafka makes it by its name. For any thread.
 *
 * <p>Invariant T2b: replaced files apply to new connections to Kafka; open connections stay, and unusable files change
 * nothing.
 */
public final class ReloadingSslEngines implements SslEngineFactory {

    private static final Logger LOG = LoggerFactory.getLogger(ReloadingSslEngines.class);

    private Map<String, ?> configs = Map.of();
    private @Nullable DefaultSslEngineFactory current;
    /** Last logged, so that it is not logged for each connection. */
    private @Nullable String failure;

    @Override
    public synchronized void configure(Map<String, ?> given) {
        configs = given;
        current = read();
    }

    @Override
    public SSLEngine createClientSslEngine(String peerHost, int peerPort, String endpointIdentification) {
        return fresh().createClientSslEngine(peerHost, peerPort, endpointIdentification);
    }

    @Override
    public SSLEngine createServerSslEngine(String peerHost, int peerPort) {
        return fresh().createServerSslEngine(peerHost, peerPort);
    }

    @Override
    public boolean shouldBeRebuilt(Map<String, Object> nextConfigs) {
        return fresh().shouldBeRebuilt(nextConfigs);
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return fresh().reconfigurableConfigs();
    }

    @Override
    public @Nullable KeyStore keystore() {
        return fresh().keystore();
    }

    @Override
    public @Nullable KeyStore truststore() {
        return fresh().truststore();
    }

    @Override
    public synchronized void close() {
        if (current != null) {
            current.close();
        }
    }

    private synchronized DefaultSslEngineFactory fresh() {
        DefaultSslEngineFactory known = current;
        if (known == null) {
            throw new IllegalStateException("not configured yet");
        }
        if (!known.shouldBeRebuilt(Collections.unmodifiableMap(configs))) {
            return known;
        }
        try {
            DefaultSslEngineFactory next = read();
            known.close();
            current = next;
            failure = null;
            LOG.atInfo().log("Kafka TLS files reloaded");
            return next;
        } catch (RuntimeException e) {
            String why = String.valueOf(e.getMessage());
            if (!why.equals(failure)) {
                LOG.atWarn().addKeyValue("cause", why).log("Kafka TLS reload failed; keeping previous certificates");
                failure = why;
            }
            return known;
        }
    }

    private DefaultSslEngineFactory read() {
        DefaultSslEngineFactory next = new DefaultSslEngineFactory();
        next.configure(configs);
        return next;
    }
}
