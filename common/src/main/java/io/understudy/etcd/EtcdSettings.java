package io.understudy.etcd;

import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How to reach one etcd cluster.
 *
 * @param name what logs and metrics call the cluster, such as {@code source}
 * @param endpoints at least one, {@code http://host:port} or, with TLS, {@code https://host:port}
 * @param probeInterval pause between two probes of each endpoint, 100 ms to 1 min
 * @param requestTimeout deadline of each single request, 100 ms to 5 min
 * @param tls the files for {@code https} endpoints; null for the platform's trust and no certificate of our own
 */
public record EtcdSettings(
        String name,
        List<URI> endpoints,
        MemberDiscovery discovery,
        Duration probeInterval,
        Duration requestTimeout,
        @Nullable TlsFiles tls) {

    public static final Duration DEFAULT_PROBE_INTERVAL = Duration.ofSeconds(1);
    public static final Duration DEFAULT_REQUEST_TIMEOUT = Duration.ofSeconds(5);

    public EtcdSettings {
        endpoints = List.copyOf(endpoints);
        if (name.isBlank()) {
            throw new IllegalArgumentException("a cluster without a name");
        }
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("no endpoints for cluster " + name + "; at least one is needed");
        }
        List<Endpoint> parsed = endpoints.stream().map(Endpoint::of).toList();
        if (parsed.stream().map(Endpoint::tls).distinct().count() > 1) {
            throw new IllegalArgumentException("http and https endpoints mixed for cluster " + name + ": " + endpoints);
        }
        if (tls != null && !parsed.get(0).tls()) {
            throw new IllegalArgumentException(
                    "TLS files for cluster " + name + ", but its endpoints are http: " + endpoints);
        }
        between("probe interval", probeInterval, Duration.ofMillis(100), Duration.ofMinutes(1));
        between("request timeout", requestTimeout, Duration.ofMillis(100), Duration.ofMinutes(5));
    }

    /** Defaults for everything else. */
    public static EtcdSettings of(URI... endpoints) {
        return new EtcdSettings(
                "etcd",
                Arrays.asList(endpoints),
                MemberDiscovery.MEMBERS,
                DEFAULT_PROBE_INTERVAL,
                DEFAULT_REQUEST_TIMEOUT,
                null);
    }

    public EtcdSettings withName(String newName) {
        return new EtcdSettings(newName, endpoints, discovery, probeInterval, requestTimeout, tls);
    }

    public EtcdSettings withDiscovery(MemberDiscovery newDiscovery) {
        return new EtcdSettings(name, endpoints, newDiscovery, probeInterval, requestTimeout, tls);
    }

    /** The configured endpoints, without repetitions. */
    public List<Endpoint> seeds() {
        return endpoints.stream().map(Endpoint::of).distinct().toList();
    }

    private static void between(String what, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                    "the " + what + " is " + value + "; allowed is " + least + " to " + most);
        }
    }
}
