package io.understudy.gateway;

import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.fault.FaultProxy;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.function.UnaryOperator;

/**
 * A gateway that restarts at the same port. It ends like a killed process: a proxy cuts its connections in the middle of a
 * response.
 */
final class RestartableGateway implements AutoCloseable {

    private final FreePorts ports = FreePorts.take(1);
    private final GatewaySettings settings;
    private final FaultProxy front;
    private GatewayFixture current;

    /** Starts the gateway. */
    RestartableGateway(LocalEtcd source, UnaryOperator<GatewaySettings> more) throws IOException, InterruptedException {
        int port = ports.get(0);
        settings = more.apply(GatewaySettings.of(
                "test",
                new HostPort("127.0.0.1", port),
                EtcdSettings.of(source.clientUrls().toArray(new URI[0])).withName("source")));
        front = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        current = new GatewayFixture(settings);
    }

    /** The port for clients. */
    int port() {
        return front.port();
    }

    GatewayFixture current() {
        return current;
    }

    /** Resets the connections of clients, also new ones, until {@link #letClientsIn}. */
    void cutClientsOff() {
        front.cut();
    }

    void letClientsIn() {
        front.heal();
    }

    void die() {
        front.cut();
        current.close();
    }

    /** Starts it again after {@link #die}. */
    void start() throws IOException, InterruptedException {
        current = new GatewayFixture(settings);
        front.heal();
    }

    @Override
    public void close() {
        current.close();
        front.close();
        ports.close();
    }
}
