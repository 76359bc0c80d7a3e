package io.understudy.gateway;

import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A gateway that forwards writes, in a JVM of its own, which ends when its heap is used up. */
final class GatewayJvm {

    private GatewayJvm() {}

    /** Prepares one that listens at a port. */
    static ServerProcess of(Path folder, String name, String heap, int port, URI source) {
        return new LocalProcesses()
                .prepare(new ServerCommand(
                        name,
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        List.of(
                                "-Xmx" + heap,
                                "-XX:+ExitOnOutOfMemoryError",
                                "-Djava.net.preferIPv4Stack=true",
                                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                                "-Dtest.log=" + folder.resolve(name + ".log"),
                                "-cp",
                                System.getProperty("java.class.path"),
                                GatewayJvm.class.getName(),
                                name,
                                Integer.toString(port),
                                source.toString()),
                        Map.of(),
                        folder,
                        folder.resolve(name + ".out")));
    }

    public static void main(String[] arguments) throws Exception {
        try (Gateway gateway = Gateway.start(GatewaySettings.of(
                        arguments[0],
                        new HostPort("127.0.0.1", Integer.parseInt(arguments[1])),
                        EtcdSettings.of(URI.create(arguments[2])))
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)))) {
            gateway.failure().get();
        }
    }
}
