package io.understudy.cli;

import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code understudy gateway}: runs one gateway until it is told to stop. */
@Command(
        name = "gateway",
        description = "Run a gateway: serve the etcd v3 API from a read-only replica until told to stop.")
final class GatewayCommand implements Callable<Integer> {

    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(20);

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "Its YAML configuration.")
    private Path config;

    @Override
    public Integer call() throws Exception {
        Gateway gateway = Gateway.start(GatewaySettings.load(config, System.getenv(), Map.of()));
        return Foreground.hold(gateway, CLOSE_DEADLINE, gateway.failure());
    }
}
