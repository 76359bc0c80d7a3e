package io.understudy.gateway.dashboard;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import io.understudy.etcd.EndpointUrls;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the dashboard.
 *
 * @param tls for the other processes; null for the platform's trust and no certificate
 */
@Configured.Group("dashboard")
public record DashboardSettings(
        @Configured(value = "Serve the dashboard at rest.listen.", byDefault = "true")
        boolean enabled,

        @Configured(
                value = "REST URLs of the other gateways to show on the dashboard.",
                optional = true,
                check = EndpointUrls.class,
                example = "http://gateway-2.example:8080")
        List<URI> gateways,

        @Configured(
                value = "Status URLs of mirror processes, as set by status.listen.",
                optional = true,
                check = EndpointUrls.class,
                example = "http://mirror-1.example:8081")
        List<URI> mirrors,

        @Configured(
                value = "Status URLs of supervisors, as set by supervisor.listen.",
                optional = true,
                check = EndpointUrls.class,
                example = "http://supervisor-1.example:8082")
        List<URI> supervisors,

        @Nullable TlsFiles tls) {

    /** This gateway and its source alone. */
    public static final DashboardSettings DEFAULTS = Binder.defaults(DashboardSettings.class);

    public DashboardSettings {
        gateways = List.copyOf(gateways);
        mirrors = List.copyOf(mirrors);
        supervisors = List.copyOf(supervisors);
    }
}
