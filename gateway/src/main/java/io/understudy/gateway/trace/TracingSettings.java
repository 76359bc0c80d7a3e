package io.understudy.gateway.trace;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the collector and the sampling.
 *
 * @param tls for an https collector; null for the platform's trust and no certificate
 */
@Configured.Group("tracing")
public record TracingSettings(
        @Configured(
                value = "Full URL of the collector that receives spans by OTLP over HTTP. Default: tracing is off.",
                check = Collector.class,
                example = "http://127.0.0.1:4318/v1/traces")
        @Nullable URI endpoint,

        @Configured(
                value =
                        "Number of calls in a million that are traced, unless the client's traceparent decides. 0: trace only"
                                + " calls that the client samples.",
                byDefault = "1000",
                range = "0..1000000")
        int samplesPerMillion,

        @Configured(
                value = "Service name in exported spans; the instance id is the name of the gateway.",
                byDefault = "understudy-gateway")
        String serviceName,

        @Configured(
                value = "Allow sending spans to other machines in plaintext. Otherwise the endpoint must be https or"
                        + " loopback.",
                byDefault = "false")
        boolean insecure,

        @Nullable TlsFiles tls) {

    private static final int MILLION = 1_000_000;

    /** Tracing disabled. */
    public static final TracingSettings DEFAULTS = Binder.defaults(TracingSettings.class);

    public TracingSettings {
        if (endpoint != null && !insecure) {
            requireUnreadable(endpoint);
        }
        if (tls != null && (endpoint == null || !isTls(endpoint))) {
            throw new IllegalArgumentException("tracing.tls is set, but tracing.endpoint is "
                    + (endpoint == null ? "not set" : endpoint) + "; use an https URL or remove tracing.tls");
        }
    }

    /** To a collector, defaults for everything else. */
    public static TracingSettings to(URI endpoint) {
        return Binder.with(DEFAULTS, "endpoint", endpoint);
    }

    public TracingSettings withSamplesPerMillion(int samples) {
        return Binder.with(this, "samplesPerMillion", samples);
    }

    /** The sampled share of calls without a sampling decision of the client. */
    double ratio() {
        return (double) samplesPerMillion / MILLION;
    }

    /** The URL of a collector. */
    static final class Collector implements Consumer<URI> {
        @Override
        public void accept(URI url) {
            boolean isHttp = "http".equals(url.getScheme()) || isTls(url);
            boolean hasPath = url.getPath() != null && url.getPath().length() > 1;
            if (!isHttp
                    || !hasPath
                    || url.getUserInfo() != null
                    || url.getQuery() != null
                    || url.getFragment() != null) {
                throw new IllegalArgumentException(
                        "not an http or https URL with a path and without user or query, such as"
                                + " http://127.0.0.1:4318/v1/traces");
            }
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
