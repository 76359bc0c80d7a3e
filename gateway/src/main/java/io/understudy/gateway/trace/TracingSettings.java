package io.understudy.gateway.trace;

import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where spans go, and of how many calls.
 *
 * @param endpoint of the collector, which takes OTLP over HTTP; null to trace nothing
 * @param samplesPerMillion of the calls that nobody has decided about before; 0 to 1,000,000
 * @param serviceName by which the collector knows gateways
 * @param tls for a collector that speaks it; null for the platform's trust and no certificate
 */
public record TracingSettings(
        @Nullable URI endpoint,
        int samplesPerMillion,
        String serviceName,
        @Nullable TlsFiles tls) {

    private static final int MILLION = 1_000_000;

    /** Nothing is traced. */
    public static final TracingSettings DEFAULTS = new TracingSettings(null, 1_000, "understudy-gateway", null);

    private static final String GROUP = "tracing";

    private static final Setting<URI> ENDPOINT = Setting.uri(
                    "endpoint",
                    "Full URL of the collector that receives spans by OTLP over HTTP. Default: tracing is off.")
            .optionally()
            .checkedBy(TracingSettings::requireCollector)
            .example("http://127.0.0.1:4318/v1/traces");
    private static final Setting<Integer> SAMPLES_PER_MILLION = Setting.integer(
                    "samplesPerMillion",
                    "Number of calls in a million that are traced, unless the client's traceparent decides. 0: trace only"
                            + " calls that the client samples.")
            .defaultsTo(DEFAULTS.samplesPerMillion)
            .between(0, MILLION);
    private static final Setting<String> SERVICE_NAME = Setting.text(
                    "serviceName", "Service name in exported spans; the instance id is the name of the gateway.")
            .defaultsTo(DEFAULTS.serviceName);
    private static final Setting<Boolean> INSECURE = Setting.flag(
                    "insecure",
                    "Allow sending spans to other machines in plaintext. Otherwise the endpoint must be https or loopback.")
            .defaultsTo(false);

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = Setting.under(
            GROUP,
            Stream.concat(
                            Stream.<Setting<?>>of(ENDPOINT, SAMPLES_PER_MILLION, SERVICE_NAME, INSECURE),
                            TlsFiles.ROWS.stream())
                    .toList());

    public TracingSettings {
        if (samplesPerMillion < 0 || samplesPerMillion > MILLION) {
            throw new IllegalArgumentException(
                    "tracing.samplesPerMillion is " + samplesPerMillion + "; allowed: 0 to " + MILLION);
        }
        if (tls != null && (endpoint == null || !isTls(endpoint))) {
            throw new IllegalArgumentException("tracing.tls is set, but tracing.endpoint is "
                    + (endpoint == null ? "not set" : endpoint) + "; use an https URL or remove tracing.tls");
        }
    }

    /** To a collector, defaults for everything else. */
    public static TracingSettings to(URI endpoint) {
        return new TracingSettings(endpoint, DEFAULTS.samplesPerMillion, DEFAULTS.serviceName, null);
    }

    public TracingSettings withSamplesPerMillion(int samples) {
        return new TracingSettings(endpoint, samples, serviceName, tls);
    }

    /**
     * What {@link #ROWS} say.
     *
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static TracingSettings from(Configuration configuration) {
        Configuration group = configuration.at(GROUP);
        URI endpoint = group.find(ENDPOINT).orElse(null);
        if (endpoint != null && !group.get(INSECURE)) {
            requireUnreadable(endpoint);
        }
        return new TracingSettings(
                endpoint,
                group.get(SAMPLES_PER_MILLION),
                group.get(SERVICE_NAME),
                TlsFiles.from(group).orElse(null));
    }

    /** The share of calls that nobody has decided about before. */
    double ratio() {
        return (double) samplesPerMillion / MILLION;
    }

    private static void requireCollector(URI url) {
        boolean isHttp = "http".equals(url.getScheme()) || isTls(url);
        boolean hasPath = url.getPath() != null && url.getPath().length() > 1;
        if (!isHttp || !hasPath || url.getUserInfo() != null || url.getQuery() != null || url.getFragment() != null) {
            throw new IllegalArgumentException("not an http or https URL with a path and without user or query, such as"
                    + " http://127.0.0.1:4318/v1/traces");
        }
    }

    private static void requireUnreadable(URI endpoint) {
        if (!isTls(endpoint) && !new HostPort(endpoint.getHost(), Math.max(0, endpoint.getPort())).isLoopback()) {
            throw new IllegalArgumentException("tracing.endpoint is " + endpoint
                    + ", which would receive spans in plaintext; use https, a loopback address such as 127.0.0.1, or"
                    + " tracing.insecure: true");
        }
    }

    private static boolean isTls(URI endpoint) {
        return "https".equals(endpoint.getScheme());
    }
}
