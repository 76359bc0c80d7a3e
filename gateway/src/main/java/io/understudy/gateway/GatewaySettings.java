package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.config.Check;
import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.ProcessName;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.gateway.dashboard.DashboardSettings;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.Writes;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.gateway.member.MemberSettings;
import io.understudy.gateway.permission.PermissionSettings;
import io.understudy.gateway.read.ReadSettings;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.gateway.rest.RestSettings;
import io.understudy.gateway.server.ServerLimits;
import io.understudy.gateway.trace.TracingSettings;
import io.understudy.gateway.verify.VerifySettings;
import io.understudy.tls.ListenerSecurity;
import io.understudy.vocabulary.KeyRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How a gateway runs.
 *
 * @param name what this gateway is called, unique among the gateways of a source: its member id is made of it
 * @param listen of the etcd v3 API and the pages beside it; port 0 for a free one
 * @param source what to follow
 * @param rest where REST is served, if it is
 * @param security of both ports
 * @param range the part of the key space to hold
 * @param reads how long reads wait, and for what
 * @param replica how much of the past, and how much memory, it may have
 * @param watches what watchers may ask for
 * @param verify how often and how fast the replica is compared with the source
 * @param forward what becomes of requests that the replica can't answer
 * @param members whom clients see as members
 * @param permissions how the source's permissions are enforced
 * @param dashboard what it shows
 * @param tracing where spans of calls go
 * @param maxSilence how long the feed may tell nothing before {@code /readyz} is red
 * @param closeTimeout how long closing waits for requests under way
 */
public record GatewaySettings(
        String name,
        HostPort listen,
        RestSettings rest,
        ListenerSecurity security,
        SourceSettings source,
        KeyRange range,
        EtcdFeedOptions feed,
        ServerLimits limits,
        ReadSettings reads,
        ReplicaSettings replica,
        HubSettings watches,
        VerifySettings verify,
        ForwardSettings forward,
        MemberSettings members,
        PermissionSettings permissions,
        DashboardSettings dashboard,
        TracingSettings tracing,
        Duration maxSilence,
        Duration closeTimeout) {

    private static final String FEED = "feed";

    private static final Setting<String> NAME = Setting.text(
                    "name",
                    "Name of the gateway. It must be unique among the gateways of a source and stable across restarts,"
                            + " because the member id is derived from it. Default: the host name and the port.")
            .optionally()
            .example("gateway-1");
    private static final Setting<HostPort> LISTEN = Setting.hostPort(
                    "listen",
                    "Listen address of the etcd v3 API, health, version and metrics; port 0 selects a free port.")
            .defaultsTo(new HostPort("127.0.0.1", 2379));
    private static final Setting<String> PREFIX = Setting.text(
                    "range.prefix", "Prefix (UTF-8) of the keys to replicate. Default: the whole key space.")
            .optionally()
            .example("/registry/");
    private static final Setting<Duration> MAX_SILENCE = Setting.duration(
                    "maxSilence", "Maximum time without source progress, and maximum staleness, before /readyz fails.")
            .defaultsTo(Duration.ofSeconds(15))
            .between(Duration.ofSeconds(1), Duration.ofHours(1));
    private static final Setting<Duration> CLOSE_TIMEOUT = Setting.duration(
                    "closeTimeout", "Maximum time that shutdown waits for requests in flight.")
            .defaultsTo(Duration.ofSeconds(5))
            .between(Duration.ofMillis(100), Duration.ofMinutes(5));

    /** Every setting of a gateway process. */
    public static final Collection<Setting<?>> ROWS = Stream.of(
                    List.of(NAME, LISTEN, MAX_SILENCE, CLOSE_TIMEOUT),
                    Binder.rows(RestSettings.class),
                    Binder.rows(ListenerSecurity.class),
                    Setting.under(SourceConfiguration.NAME, SourceConfiguration.ROWS),
                    List.of(PREFIX),
                    Setting.under(FEED, Binder.rows(EtcdFeedOptions.class)),
                    Binder.rows(ServerLimits.class),
                    Binder.rows(ReadSettings.class),
                    Binder.rows(ReplicaSettings.class),
                    Binder.rows(HubSettings.class),
                    Binder.rows(VerifySettings.class),
                    Binder.rows(ForwardSettings.class),
                    MemberSettings.ROWS,
                    Binder.rows(PermissionSettings.class),
                    Binder.rows(DashboardSettings.class),
                    Binder.rows(TracingSettings.class))
            .<Setting<?>>flatMap(List::stream)
            .toList();

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
     * @throws io.understudy.config.ConfigurationException telling all that is wrong
     */
    public static GatewaySettings load(Path file, Map<String, String> environment, Map<String, String> flags) {
        return from(Configuration.load(file, environment, flags, ROWS, GatewaySettings::checkTogether));
    }

    /**
     * What {@link #ROWS} say.
     *
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static GatewaySettings from(Configuration configuration) {
        HostPort listen = configuration.get(LISTEN);
        return new GatewaySettings(
                configuration.find(NAME).orElseGet(() -> hostName() + ":" + listen.port()),
                listen,
                configuration.bind(RestSettings.class),
                configuration.bind(ListenerSecurity.class),
                SourceConfiguration.from(configuration.at(SourceConfiguration.NAME)),
                configuration
                        .find(PREFIX)
                        .map(prefix -> KeyRange.prefix(ByteString.copyFromUtf8(prefix)))
                        .orElse(KeyRange.all()),
                configuration.at(FEED).bind(EtcdFeedOptions.class),
                configuration.bind(ServerLimits.class),
                configuration.bind(ReadSettings.class),
                ReplicaSettings.from(configuration),
                configuration.bind(HubSettings.class),
                configuration.bind(VerifySettings.class),
                configuration.bind(ForwardSettings.class),
                MemberSettings.from(configuration),
                configuration.bind(PermissionSettings.class),
                configuration.bind(DashboardSettings.class),
                configuration.bind(TracingSettings.class),
                configuration.get(MAX_SILENCE),
                configuration.get(CLOSE_TIMEOUT));
    }

    /**
     * The whole key space of {@code source}, listening at {@code listen}, with REST at a free port there; defaults for
     * everything else.
     */
    public static GatewaySettings of(String name, HostPort listen, EtcdSettings source) {
        return of(name, listen, new SourceSettings.Etcd(source));
    }

    /** Likewise, of a source of any kind. */
    public static GatewaySettings of(String name, HostPort listen, SourceSettings source) {
        return new GatewaySettings(
                name,
                listen,
                Binder.with(Binder.defaults(RestSettings.class), new HostPort(listen.host(), 0)),
                ListenerSecurity.PLAIN,
                source,
                KeyRange.all(),
                EtcdFeedOptions.DEFAULTS,
                ServerLimits.DEFAULTS,
                ReadSettings.DEFAULTS,
                ReplicaSettings.DEFAULTS,
                HubSettings.DEFAULTS,
                VerifySettings.DEFAULTS,
                ForwardSettings.DEFAULTS,
                MemberSettings.DEFAULTS,
                PermissionSettings.DEFAULTS,
                DashboardSettings.DEFAULTS,
                TracingSettings.DEFAULTS,
                Duration.ofSeconds(15),
                Duration.ofSeconds(5));
    }

    /**
     * The same with another part, such as {@link ReadSettings}.
     *
     * @throws IllegalArgumentException for a combination that cannot work
     */
    public GatewaySettings with(Record part) {
        return Binder.with(this, part);
    }

    /** So that impossible combinations are told together with everything else that is wrong. */
    private static void checkTogether(Configuration configuration, Check.Report report) {
        GatewaySettings unused = from(configuration);
    }

    private static String hostName() {
        return ProcessName.host().orElseThrow(() -> new IllegalArgumentException("host name is unknown; set 'name'"));
    }
}
