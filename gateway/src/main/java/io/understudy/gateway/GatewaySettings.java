package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.config.Check;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import io.understudy.config.ProcessName;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.gateway.dashboard.DashboardSettings;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.gateway.member.MemberSettings;
import io.understudy.gateway.permission.PermissionSettings;
import io.understudy.gateway.read.ReadSettings;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.gateway.rest.RestSettings;
import io.understudy.gateway.server.ServerLimits;
import io.understudy.gateway.trace.TracingSettings;
import io.understudy.gateway.verify.Verifier.VerifySettings;
import io.understudy.tls.ListenerSecurity;
import io.understudy.vocabulary.KeyRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a gateway.
 *
 * @param listen of the etcd v3 API and the pages beside it
 * @param security of both ports
 * @param prefix of the keys to replicate; null for all
 */
public record GatewaySettings(
        @Configured(
                value = "Name of the gateway. It must be unique among the gateways of a source and stable across"
                        + " restarts, because the member id is derived from it. Default: the host name and the port.",
                optional = true,
                example = "gateway-1")
        String name,

        @Configured(
                value = "Listen address of the etcd v3 API, health, version and metrics; port 0 selects a free port.",
                byDefault = "127.0.0.1:2379")
        HostPort listen,

        @Configured(
                value = "Maximum time without source progress, and maximum staleness, before /readyz fails.",
                byDefault = "15s",
                range = "1s..1h")
        Duration maxSilence,

        @Configured(
                value = "Maximum time that shutdown waits for requests in flight.",
                byDefault = "5s",
                range = "100ms..5m")
        Duration closeTimeout,

        RestSettings rest,
        ListenerSecurity security,
        @Configured.Group(SourceConfiguration.NAME) SourceSettings source,

        @Configured(
                key = "range.prefix",
                value = "Prefix (UTF-8) of the keys to replicate. Default: the whole key space.",
                example = "/registry/")
        @Nullable String prefix,

        @Configured.Group("feed") EtcdFeedOptions feed,
        ServerLimits limits,
        ReadSettings reads,
        ReplicaSettings replica,
        HubSettings watches,
        VerifySettings verify,
        ForwardSettings forward,
        MemberSettings members,
        PermissionSettings permissions,
        DashboardSettings dashboard,
        TracingSettings tracing) {

    /** Every setting of a gateway process. */
    public static final List<Setting<?>> ROWS = Binder.rows(GatewaySettings.class);

    public GatewaySettings {
        if (name.isBlank()) {
            throw new IllegalArgumentException(
                    "name is blank; set a name that is unique among the gateways of the source");
        }
        security.require("listen", listen);
        if (rest.enabled()) {
            security.require("rest.listen", rest.listen());
        }
        if (source instanceof SourceSettings.Kafka && forward.writes() == Writes.FORWARD) {
            throw new IllegalArgumentException(
                    "writes is forward, but source.kafka cannot accept writes; set writes to refuse or use source.endpoints");
        }
        if (permissions.roles()
                && !(source instanceof SourceSettings.Etcd etcd
                        && etcd.cluster().login() != null)) {
            throw new IllegalArgumentException(
                    "permissions.roles is true, but source.user is not set; set source.user to a user with the role root");
        }
    }

    /**
     * Reads and checks a gateway's configuration.
     *
     * @param flags values by key
     * @throws io.understudy.config.ConfigurationException with all problems
     */
    public static GatewaySettings load(Path file, Map<String, String> environment, Map<String, String> flags) {
        return from(Configuration.load(file, environment, flags, ROWS, GatewaySettings::checkTogether));
    }

    /**
     * The settings of the configuration.
     *
     * @throws IllegalArgumentException for a combination that cannot work
     */
    public static GatewaySettings from(Configuration configuration) {
        Object listen = configuration.get(Binder.row(GatewaySettings.class, "listen"));
        return configuration.bind(
                GatewaySettings.class,
                Map.of(
                        "name",
                        // Without a host name, the name is blank, and is rejected unless it is set.
                        ProcessName.host()
                                .map(host -> host + ":" + ((HostPort) listen).port())
                                .orElse(""),
                        "source",
                        SourceConfiguration.from(configuration.at(SourceConfiguration.NAME)),
                        "replica",
                        ReplicaSettings.from(configuration)));
    }

    /** The keys to replicate. */
    public KeyRange range() {
        return prefix == null ? KeyRange.all() : KeyRange.prefix(ByteString.copyFromUtf8(prefix));
    }

    /** Settings for the whole key space of {@code source}, with REST at a free port. Defaults for everything else. */
    public static GatewaySettings of(String name, HostPort listen, EtcdSettings source) {
        return of(name, listen, new SourceSettings.Etcd(source));
    }

    /** Likewise, of a source of any kind. */
    public static GatewaySettings of(String name, HostPort listen, SourceSettings source) {
        return Binder.defaults(
                GatewaySettings.class,
                Map.of(
                        "name",
                        name,
                        "listen",
                        listen,
                        "rest",
                        Binder.with(Binder.defaults(RestSettings.class), new HostPort(listen.host(), 0)),
                        "source",
                        source,
                        "replica",
                        ReplicaSettings.DEFAULTS));
    }

    /**
     * The same with another part, such as {@link ReadSettings}.
     *
     * @throws IllegalArgumentException for a combination that cannot work
     */
    public GatewaySettings with(Record part) {
        return Binder.with(this, part);
    }

    /** The settings for keys with a prefix only. */
    public GatewaySettings withPrefix(String of) {
        return Binder.with(this, "prefix", of);
    }

    /** Reports impossible combinations together with all other problems. */
    private static void checkTogether(Configuration configuration, Check.Report report) {
        GatewaySettings unused = from(configuration);
    }
}
