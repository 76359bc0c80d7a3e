package io.understudy.bench;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** {@code etcd grpc-proxy}, as a process of its own. */
final class GrpcProxy {

    private static final String NAME = "grpc-proxy";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int LOG_LINES = 12;

    private final ServerProcess process;
    private final int port;

    /** @param members client URLs of those that it passes requests on to */
    GrpcProxy(EtcdBinaries binaries, Path folder, int port, List<URI> members) {
        this.port = port;
        String endpoints = members.stream()
                .map(each -> each.getHost() + ":" + each.getPort())
                .collect(Collectors.joining(","));
        process = new LocalProcesses()
                .prepare(new ServerCommand(
                        NAME,
                        binaries.etcd(),
                        List.of(
                                "grpc-proxy",
                                "start",
                                "--endpoints=" + endpoints,
                                "--listen-addr=127.0.0.1:" + port,
                                "--advertise-client-url=127.0.0.1:" + port,
                                "--data-dir=" + folder.resolve("data")),
                        Map.of(),
                        Folders.create(folder),
                        folder.resolve(NAME + ".log")));
    }

    /** Starts it and returns when it listens. */
    void start() {
        process.start();
        Waiting.until(
                PATIENCE,
                () -> FreePorts.isFree(port) && process.isAlive() ? Optional.empty() : Optional.of(port),
                () -> new BenchException(NAME + " not listening after " + PATIENCE.toSeconds() + " s"));
        if (!process.isAlive()) {
            throw new BenchException(NAME + " exited during startup; end of its log "
                    + process.log().file() + ":\n  "
                    + String.join("\n  ", process.log().tail(LOG_LINES)));
        }
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + port);
    }

    ServerProcess process() {
        return process;
    }

    void stop() {
        process.stop();
        process.close();
    }
}
