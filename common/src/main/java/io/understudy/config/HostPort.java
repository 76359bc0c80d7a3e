package io.understudy.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A network address to listen at or to connect to.
 *
 * @param host name or address; an IPv6 address without brackets
 * @param port 0 to 65535; 0 lets the system choose where one is listened at
 */
public record HostPort(String host, int port) {

    private static final Pattern FORM = Pattern.compile("(?:\\[([0-9a-fA-F:.%]+)]|([^\\[\\]:/\\s]+)):(\\d{1,5})");

    /** Literal IPv4 and IPv6 addresses, which need no lookup. */
    private static final Pattern ADDRESS = Pattern.compile("\\d+(?:\\.\\d+){3}|[0-9a-fA-F.]*:[0-9a-fA-F:.%]+");

    public HostPort {
        if (port < 0 || port > 65535) {
            throw new SettingType.ExplainedException("port must be 0 to 65535, is " + port);
        }
    }

    /**
     * Reads {@code host:port}, an IPv6 address in brackets.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static HostPort parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not host:port: " + text);
        }
        String host = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
        return new HostPort(host, Integer.parseInt(matcher.group(3)));
    }

    /** For binding or connecting; resolves the name. */
    public InetSocketAddress socketAddress() {
        return new InetSocketAddress(host, port);
    }

    /** Whether all addresses of the host are loopback; false if it cannot be resolved. */
    public boolean isLoopback() {
        try {
            return Arrays.stream(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** As {@link #isLoopback}, of addresses and {@code localhost} only: other names are not looked up. */
    public boolean isLiterallyLoopback() {
        return host.equals("localhost") || (ADDRESS.matcher(host).matches() && isLoopback());
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
