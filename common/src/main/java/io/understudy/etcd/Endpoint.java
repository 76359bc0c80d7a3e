package io.understudy.etcd;

import java.net.URI;
import java.util.Locale;

/**
 * An address at which one server speaks etcd's client protocol.
 *
 * @param host name or address, lower case; an IPv6 address without brackets
 * @param tls whether connections are encrypted
 */
public record Endpoint(String host, int port, boolean tls) {

    /** The port of a URL that names none. */
    public static final int DEFAULT_PORT = 2379;

    public Endpoint {
        host = host.toLowerCase(Locale.ROOT);
        if (host.isEmpty()) {
            throw new IllegalArgumentException("endpoint has no host");
        }
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("endpoint port must be 1 to 65535, is " + port);
        }
    }

    /**
     * The endpoint that a URL names.
     *
     * @throws IllegalArgumentException if {@code uri} is not {@code http://host[:port]} or {@code https://host[:port]}
     */
    public static Endpoint of(URI uri) {
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        boolean known = scheme.equals("http") || scheme.equals("https");
        boolean bare = uri.getPath() == null
                || uri.getPath().isEmpty()
                || uri.getPath().equals("/");
        if (!known || !bare || uri.getHost() == null || uri.getUserInfo() != null || uri.getQuery() != null) {
            // The authority may contain a password.
            String shown = uri.toString().replaceFirst("//.*@", "//***@");
            throw new IllegalArgumentException(
                    "invalid endpoint: " + shown + "; use http://host:port or https://host:port");
        }
        String host = uri.getHost();
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        return new Endpoint(host, uri.getPort() == -1 ? DEFAULT_PORT : uri.getPort(), scheme.equals("https"));
    }

    public static Endpoint of(String uri) {
        return of(URI.create(uri));
    }

    /** {@code host:port}, with an IPv6 address in brackets. */
    public String authority() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    public URI uri() {
        return URI.create(toString());
    }

    /** The URL. */
    @Override
    public String toString() {
        return (tls ? "https://" : "http://") + authority();
    }
}
