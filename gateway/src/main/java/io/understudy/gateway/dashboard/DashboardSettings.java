package io.understudy.gateway.dashboard;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.etcd.Endpoint;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the dashboard shows.
 *
 * @param enabled whether there is one
 * @param gateways where REST of other gateways is served
 * @param mirrors where mirror processes tell their status
 * @param supervisors where supervisors tell their state
 * @param tls for those of them that speak it; null for the platform's trust and no certificate
 */
public record DashboardSettings(
        boolean enabled,
        List<URI> gateways,
        List<URI> mirrors,
        List<URI> supervisors,
        @Nullable TlsFiles tls) {

    /** This gateway and its source alone. */
    public static final DashboardSettings DEFAULTS = new DashboardSettings(true, List.of(), List.of(), List.of(), null);

    private static final String GROUP = "dashboard";

    private static final Setting<Boolean> ENABLED =
            Setting.flag("enabled", "Serve the dashboard at rest.listen.").defaultsTo(true);
    private static final Setting<List<URI>> GATEWAYS = Setting.uris(
                    "gateways", "REST URLs of the other gateways to show on the dashboard.")
            .optionally()
            .checkedBy(DashboardSettings::requireServers)
            .example("http://gateway-2.example:8080");
    private static final Setting<List<URI>> MIRRORS = Setting.uris(
                    "mirrors", "Status URLs of mirror processes, as set by status.listen.")
            .optionally()
            .checkedBy(DashboardSettings::requireServers)
            .example("http://mirror-1.example:8081");
    private static final Setting<List<URI>> SUPERVISORS = Setting.uris(
                    "supervisors", "Status URLs of supervisors, as set by supervisor.listen.")
            .optionally()
            .checkedBy(DashboardSettings::requireServers)
            .example("http://supervisor-1.example:8082");

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = Setting.under(
            GROUP,
            Stream.concat(Stream.<Setting<?>>of(ENABLED, GATEWAYS, MIRRORS, SUPERVISORS), TlsFiles.ROWS.stream())
                    .toList());

    private static void requireServers(List<URI> urls) {
        urls.forEach(Endpoint::of);
    }

    public DashboardSettings {
        gateways = List.copyOf(gateways);
        mirrors = List.copyOf(mirrors);
        supervisors = List.copyOf(supervisors);
    }

    /**
     * What {@link #ROWS} say.
     *
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static DashboardSettings from(Configuration configuration) {
        Configuration group = configuration.at(GROUP);
        return new DashboardSettings(
                group.get(ENABLED),
                group.find(GATEWAYS).orElse(List.of()),
                group.find(MIRRORS).orElse(List.of()),
                group.find(SUPERVISORS).orElse(List.of()),
                TlsFiles.from(group).orElse(null));
    }
}
