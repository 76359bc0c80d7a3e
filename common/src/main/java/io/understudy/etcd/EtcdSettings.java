package io.understudy.etcd;

import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How to reach one etcd cluster.
 *
 * @param name what logs and metrics call the cluster, such as {@code source}
 * @param endpoints at least one, {@code http://host:port} or, with TLS, {@code https://host:port}
 * @param probeInterval pause between two probes of each endpoint, 100 ms to 1 min; a fifth of it for a while where one has failed
 * @param requestTimeout deadline of each single request, 100 ms to 5 min
 * @param tls the files for {@code https} endpoints; null for the platform's trust and no certificate of our own
 * @param login whose token every call carries; null for none
 */
public record EtcdSettings(
        String name,
        List<URI> endpoints,
        MemberDiscovery discovery,
        Duration probeInterval,
        Duration requestTimeout,
        @Nullable TlsFiles tls,
        @Nullable Credentials login) {

    public static final Duration DEFAULT_PROBE_INTERVAL = Duration.ofSeconds(1);
    public static final Duration DEFAULT_REQUEST_TIMEOUT = Duration.ofSeconds(5);

    private static final Setting<List<URI>> ENDPOINTS = Setting.uris(
                    "endpoints",
                    "Client URLs of cluster members or of a gateway. With member discovery, a subset is sufficient.")
            .checkedBy(uris -> uris.forEach(Endpoint::of))
            .example("http://127.0.0.1:2379");
    private static final Setting<MemberDiscovery> DISCOVERY = Setting.choice(
                    "discovery",
                    MemberDiscovery.class,
                    "members: also use the client URLs from the cluster's member list. configured: use only the configured"
                            + " endpoints, each of which must always reach the same member.")
            .defaultsTo(MemberDiscovery.MEMBERS);
    private static final Setting<Duration> PROBE_INTERVAL = Setting.duration(
                    "probeInterval",
                    "Interval between probes of each member; a fifth of it for a while after a failure. A shorter interval"
                            + " detects failures sooner but sends more requests.")
            .defaultsTo(DEFAULT_PROBE_INTERVAL)
            .between(Duration.ofMillis(100), Duration.ofMinutes(1));
    private static final Setting<Duration> REQUEST_TIMEOUT = Setting.duration(
                    "requestTimeout", "Timeout of a single request; also limits connection establishment.")
            .defaultsTo(DEFAULT_REQUEST_TIMEOUT)
            .between(Duration.ofMillis(100), Duration.ofMinutes(5));

    /** How a cluster is reached, as rows relative to the cluster's group. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    List.<Setting<?>>of(ENDPOINTS, DISCOVERY, PROBE_INTERVAL, REQUEST_TIMEOUT),
                    Credentials.ROWS,
                    TlsFiles.ROWS)
            .flatMap(List::stream)
            .toList();

    public EtcdSettings {
        endpoints = List.copyOf(endpoints);
        if (name.isBlank()) {
            throw new IllegalArgumentException("cluster name must not be blank");
        }
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("cluster " + name + " has no endpoints; at least one is required");
        }
        List<Endpoint> parsed = endpoints.stream().map(Endpoint::of).toList();
        if (parsed.stream().map(Endpoint::tls).distinct().count() > 1) {
            throw new IllegalArgumentException("cluster " + name + " mixes http and https endpoints: " + endpoints);
        }
        if (tls != null && !parsed.get(0).tls()) {
            throw new IllegalArgumentException("cluster " + name + " has TLS files but http endpoints: " + endpoints);
        }
        between("probe interval", probeInterval, Duration.ofMillis(100), Duration.ofMinutes(1));
        between("request timeout", requestTimeout, Duration.ofMillis(100), Duration.ofMinutes(5));
    }

    /**
     * What {@link #ROWS} say.
     *
     * @param name what logs and metrics call the cluster
     * @param group the part of the configuration the rows were put under
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static EtcdSettings from(String name, Configuration group) {
        return group.make(() -> made(name, group));
    }

    private static EtcdSettings made(String name, Configuration group) {
        Credentials login = Credentials.from(group).orElse(null);
        if (login != null && !login.plainText()) {
            group.get(ENDPOINTS).stream().map(Endpoint::of).forEach(EtcdSettings::requireUnreadable);
        }
        return new EtcdSettings(
                name,
                group.get(ENDPOINTS),
                group.get(DISCOVERY),
                group.get(PROBE_INTERVAL),
                group.get(REQUEST_TIMEOUT),
                TlsFiles.from(group).orElse(null),
                login);
    }

    /** Defaults for everything else. */
    public static EtcdSettings of(URI... endpoints) {
        return new EtcdSettings(
                "etcd",
                Arrays.asList(endpoints),
                MemberDiscovery.MEMBERS,
                DEFAULT_PROBE_INTERVAL,
                DEFAULT_REQUEST_TIMEOUT,
                null,
                null);
    }

    public EtcdSettings withName(String newName) {
        return new EtcdSettings(newName, endpoints, discovery, probeInterval, requestTimeout, tls, login);
    }

    public EtcdSettings withEndpoints(List<URI> newEndpoints) {
        return new EtcdSettings(name, newEndpoints, discovery, probeInterval, requestTimeout, tls, login);
    }

    public EtcdSettings withDiscovery(MemberDiscovery newDiscovery) {
        return new EtcdSettings(name, endpoints, newDiscovery, probeInterval, requestTimeout, tls, login);
    }

    public EtcdSettings withTls(TlsFiles files) {
        return new EtcdSettings(name, endpoints, discovery, probeInterval, requestTimeout, files, login);
    }

    public EtcdSettings withLogin(@Nullable Credentials newLogin) {
        return new EtcdSettings(name, endpoints, discovery, probeInterval, requestTimeout, tls, newLogin);
    }

    /** The configured endpoints, without repetitions. */
    public List<Endpoint> seeds() {
        return endpoints.stream().map(Endpoint::of).distinct().toList();
    }

    /**
     * Whether the password may be sent there: over TLS, to this machine, to who was named by whoever gave it, or anywhere
     * if that was allowed. A member list names whom it likes. Looks no name up.
     */
    public boolean mayLogInAt(Endpoint endpoint) {
        return (login != null && login.plainText())
                || endpoint.tls()
                || seeds().contains(endpoint)
                || new HostPort(endpoint.host(), endpoint.port()).isLiterallyLoopback();
    }

    private static void requireUnreadable(Endpoint endpoint) {
        if (!endpoint.tls() && !new HostPort(endpoint.host(), endpoint.port()).isLoopback()) {
            throw new IllegalArgumentException("endpoint " + endpoint + " would receive the password in plaintext; use"
                    + " https, a loopback address such as 127.0.0.1, or insecure: true");
        }
    }

    private static void between(String what, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(what + " is " + value + "; allowed: " + least + " to " + most);
        }
    }
}
