package io.understudy.local.etcd;

import io.understudy.local.fault.FaultProxy;
import io.understudy.local.fault.Party;
import io.understudy.local.fault.SocketOwners;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The proxies before one member.
 *
 * @param client between clients and the member
 * @param peer between the other members and the member; identifies them by their processes
 */
record MemberProxies(FaultProxy client, FaultProxy peer) {

    /** @param processIds ids of the members' processes that run now, by member name */
    static MemberProxies start(
            int clientProxyPort,
            int clientPort,
            int peerProxyPort,
            int peerPort,
            Supplier<Map<String, Long>> processIds) {
        if (!SocketOwners.areKnownHere()) {
            throw new IllegalStateException(
                    "a cluster behind proxies requires /proc/net/tcp, which is not available on this system");
        }
        FaultProxy client = FaultProxy.between(clientProxyPort, loopback(clientPort), Party.ANYONE);
        try {
            return new MemberProxies(
                    client,
                    FaultProxy.between(peerProxyPort, loopback(peerPort), SocketOwners.of(peerProxyPort, processIds)));
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    void heal() {
        client.heal();
        peer.heal();
    }

    void close() {
        client.close();
        peer.close();
    }
}
