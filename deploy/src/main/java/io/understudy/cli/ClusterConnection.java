package io.understudy.cli;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The way to a cluster, for one command. */
final class ClusterConnection implements AutoCloseable {

    private final EtcdConnections connections;
    private final EtcdObserver observer;
    private final Membership membership;

    private ClusterConnection(EtcdSettings settings) {
        MeterRegistry unread = new SimpleMeterRegistry();
        this.connections = EtcdConnections.open(settings);
        this.observer = new EtcdObserver(settings, connections, unread);
        this.membership = new EtcdMembership(observer, connections, unread);
    }

    /**
     * Asks nobody yet.
     *
     * @param endpoints URLs, of which the scheme may be missing
     * @throws IllegalArgumentException an endpoint is none, or the files contradict each other
     */
    static ClusterConnection open(
            List<String> endpoints, Optional<Path> trusted, Optional<Path> certificate, Optional<Path> key) {
        @Nullable TlsFiles files = trusted.isEmpty() && certificate.isEmpty() && key.isEmpty()
                ? null
                : new TlsFiles(trusted.orElse(null), certificate.orElse(null), key.orElse(null));
        String scheme = files == null ? "http://" : "https://";
        URI[] urls = endpoints.stream()
                .map(endpoint -> URI.create(endpoint.contains("://") ? endpoint : scheme + endpoint))
                .toArray(URI[]::new);
        return new ClusterConnection(EtcdSettings.of(urls).withName("cluster").withTls(files));
    }

    ClusterObserver observer() {
        return observer;
    }

    Membership membership() {
        return membership;
    }

    @Override
    public void close() {
        connections.close();
    }
}
