package io.understudy.dashboard;

import static org.awaitility.Awaitility.await;

import io.understudy.cli.Understudy;
import io.understudy.config.Binder;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.dashboard.DashboardSettings;
import io.understudy.gateway.rest.RestSettings;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.fault.FaultProxy;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Processes around two clusters: a gateway with the page, another one behind a link that can be cut, and a mirror.
 *
 * <p>The mirror copies one cluster to the other, in a process of its own.
 */
final class Scene implements AutoCloseable {

    private static final Duration START = Duration.ofMinutes(1);

    private final LocalEtcd core;
    private final Gateway other;
    private final FaultProxy link;
    private final ServerProcess mirror;
    private final FreePorts ports = FreePorts.take(1);
    private Gateway gateway;

    private Scene(LocalEtcd core, LocalEtcd dr, Path folder) throws IOException, InterruptedException {
        this.core = core;
        other = Gateway.start(settings("other", 0));
        link = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), other.restPort()));
        mirror = mirror(core, dr, folder, ports.get(0));
        mirror.start();
        gateway = startGateway(0);
        // How soon a JVM starts on a busy machine is no concern of a test of the page.
        await().atMost(START).until(() -> responds("http://127.0.0.1:" + ports.get(0) + "/readyz"));
    }

    static Scene start(LocalEtcd core, LocalEtcd dr, Path folder) throws IOException, InterruptedException {
        return new Scene(core, dr, folder);
    }

    String url() {
        return "http://127.0.0.1:" + gateway.restPort() + "/";
    }

    String otherUrl() {
        return "http://127.0.0.1:" + link.port();
    }

    FaultProxy linkToOther() {
        return link;
    }

    ServerProcess mirror() {
        return mirror;
    }

    void stopGateway() {
        gateway.close();
    }

    /** At the port where it was. */
    void startGateway() {
        try {
            gateway = startGateway(gateway.restPort());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Undoes whatever a test has done to it. */
    void mend() {
        link.heal();
        mirror.resume();
    }

    @Override
    public void close() {
        gateway.close();
        mirror.close();
        link.close();
        other.close();
        ports.close();
    }

    private static boolean responds(String url) {
        try {
            return ((HttpURLConnection) URI.create(url).toURL().openConnection()).getResponseCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    private Gateway startGateway(int restPort) throws IOException, InterruptedException {
        return Gateway.start(settings("gateway", restPort)
                .with(new DashboardSettings(
                        true,
                        List.of(URI.create(otherUrl())),
                        List.of(URI.create("http://127.0.0.1:" + ports.get(0))),
                        List.of(),
                        null)));
    }

    private GatewaySettings settings(String name, int restPort) {
        return GatewaySettings.of(
                        name,
                        new HostPort("127.0.0.1", 0),
                        EtcdSettings.of(core.clientUrls().toArray(new URI[0])).withName("core"))
                .with(Binder.with(Binder.defaults(RestSettings.class), new HostPort("127.0.0.1", restPort)));
    }

    private static ServerProcess mirror(LocalEtcd core, LocalEtcd dr, Path folder, int port) throws IOException {
        Path file = Files.writeString(
                folder.resolve("mirror.yaml"), """
                status:
                  listen: 127.0.0.1:%d
                mirrors:
                  dr:
                    source:
                      endpoints: %s
                    target:
                      etcd:
                        endpoints: %s
                """.formatted(port, core.clientUrls(), dr.clientUrls()));
        return new LocalProcesses()
                .prepare(new ServerCommand(
                        "mirror",
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        List.of(
                                "-Xmx256m",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Djava.net.preferIPv4Stack=true",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Understudy.class.getName(),
                                "mirror",
                                "--config=" + file),
                        Map.of(),
                        folder,
                        folder.resolve("mirror.log")));
    }
}
