package io.understudy.gateway;

import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.gateway.server.ServerLimits;
import io.understudy.vocabulary.KeyRange;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * How a gateway runs.
 *
 * @param name what this gateway is called, unique among the gateways of a source: its member id is made of it, see {@link
 *     MemberIds}
 * @param listen of the etcd v3 API and the pages beside it; port 0 for a free one
 * @param source the cluster to follow
 * @param range the part of the key space to hold
 * @param maxSilence how long the feed may tell nothing before {@code /readyz} is red
 * @param closeTimeout how long closing waits for requests under way
 */
public record GatewaySettings(
        String name,
        InetSocketAddress listen,
        EtcdSettings source,
        KeyRange range,
        EtcdFeedOptions feed,
        ServerLimits limits,
        Duration maxSilence,
        Duration closeTimeout) {

    public static final InetSocketAddress DEFAULT_LISTEN = InetSocketAddress.createUnresolved("127.0.0.1", 2379);
    public static final Duration DEFAULT_MAX_SILENCE = Duration.ofSeconds(15);
    public static final Duration DEFAULT_CLOSE_TIMEOUT = Duration.ofSeconds(5);

    public GatewaySettings {
        if (name.isBlank()) {
            throw new IllegalArgumentException("a gateway without a name");
        }
    }

    /** The whole key space of {@code source} at the default address, defaults for everything else. */
    public static GatewaySettings of(String name, EtcdSettings source) {
        return new GatewaySettings(
                name,
                DEFAULT_LISTEN,
                source,
                KeyRange.all(),
                EtcdFeedOptions.DEFAULTS,
                ServerLimits.DEFAULTS,
                DEFAULT_MAX_SILENCE,
                DEFAULT_CLOSE_TIMEOUT);
    }

    public GatewaySettings withListen(String host, int port) {
        return new GatewaySettings(
                name,
                InetSocketAddress.createUnresolved(host, port),
                source,
                range,
                feed,
                limits,
                maxSilence,
                closeTimeout);
    }

    public GatewaySettings withRange(KeyRange newRange) {
        return new GatewaySettings(name, listen, source, newRange, feed, limits, maxSilence, closeTimeout);
    }

    public GatewaySettings withLimits(ServerLimits newLimits) {
        return new GatewaySettings(name, listen, source, range, feed, newLimits, maxSilence, closeTimeout);
    }
}
