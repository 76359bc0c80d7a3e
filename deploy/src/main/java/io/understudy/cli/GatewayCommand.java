package io.understudy.cli;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code understudy gateway}: runs one gateway until it is told to stop. */
@Command(
        name = "gateway",
        description = "Run a gateway: serve the etcd v3 API from a read-only replica until told to stop.")
final class GatewayCommand implements Callable<Integer> {

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "Its YAML configuration.")
    private Path config;

    @Override
    public Integer call() {
        throw new IllegalStateException("this build has no gateway to start with " + config);
    }
}
