package io.understudy.etcd;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Access to one etcd cluster.
 *
 * @param name of the cluster in logs and metrics, such as {@code source}
 * @param tls for https endpoints; null for the platform's trust and no certificate
 * @param login null for none
 */
public record EtcdSettings(
        String name,

        @Configured(
                value =
                        "Client URLs of cluster members or of a gateway. With member discovery, a subset is sufficient.",
                check = EndpointUrls.class,
                example = "http://10.0.0.1:2379")
        List<URI> endpoints,

        @Configured(
                value = "members: also use the client URLs from the cluster's member list. configured: use only the"
                        + " configured endpoints, each of which must always reach the same member.",
                byDefault = "members")
        MemberDiscovery discovery,

        @Configured(
                value = "Interval between probes of each member; a fifth of it for a while after a failure. A shorter"
                        + " interval detects failures sooner but sends more requests.",
                byDefault = "1s",
                range = "100ms..1m")
        Duration probeInterval,

        @Configured(
                value = "Timeout of a single request; also limits connection establishment.",
                byDefault = "5s",
                range = "100ms..5m")
        Duration requestTimeout,

        @Nullable TlsFiles tls,
        @Nullable Credentials login) {

    public static final Duration DEFAULT_REQUEST_TIMEOUT = Duration.ofSeconds(5);

    /** The settings, relative to the cluster's group. */
    public static final List<Setting<?>> ROWS = Binder.rows(EtcdSettings.class);

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
    }

    /**
     * The settings of the group.
     *
     * @param name of the cluster in logs and metrics
     * @param group the part of the configuration the rows were put under
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static EtcdSettings from(String name, Configuration group) {
        return group.make(() -> made(name, group));
    }

    private static EtcdSettings made(String name, Configuration group) {
        EtcdSettings settings = group.bind(EtcdSettings.class, Map.of("name", name));
        if (settings.login != null && settings.login.user().contains(":")) {
            // Not shown: it may contain a password.
            throw new IllegalArgumentException("user contains ':'; allowed: a name without password. If a variable with"
                    + " NAME:PASSWORD for mirror commands overrides it, such as UNDERSTUDY_SOURCE_USER, unset it");
        }
        if (settings.login != null && !settings.login.plainText()) {
            settings.seeds().forEach(EtcdSettings::requireUnreadable);
        }
        return settings;
    }

    /** Defaults for everything else. */
    public static EtcdSettings of(URI... endpoints) {
        return Binder.defaults(EtcdSettings.class, Map.of("name", "etcd", "endpoints", List.of(endpoints)));
    }

    public EtcdSettings withName(String newName) {
        return Binder.with(this, "name", newName);
    }

    public EtcdSettings withEndpoints(List<URI> newEndpoints) {
        return Binder.with(this, "endpoints", newEndpoints);
    }

    public EtcdSettings withDiscovery(MemberDiscovery newDiscovery) {
        return Binder.with(this, "discovery", newDiscovery);
    }

    public EtcdSettings withTls(TlsFiles files) {
        return Binder.with(this, "tls", files);
    }

    public EtcdSettings withLogin(@Nullable Credentials newLogin) {
        return Binder.with(this, "login", newLogin);
    }

    /** The configured endpoints, without repetitions. */
    public List<Endpoint> seeds() {
        return endpoints.stream().map(Endpoint::of).distinct().toList();
    }

    /**
     * Whether the password may be sent there: over TLS, to loopback, or as configured. A member list can name
     * any host, so plain text is only allowed to configured endpoints, or everywhere by a setting. Resolves no name.
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
}
