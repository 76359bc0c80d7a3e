package io.understudy.cli;

import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code understudy gateway}: runs one gateway until SIGTERM or SIGINT. */
@Command(
        name = "gateway",
        description = "Run a gateway that serves the etcd v3 API from a read-only replica.",
        exitCodeList = {"0:stopped by SIGTERM or SIGINT", "1:failed", "2:usage error"})
final class GatewayCommand implements Callable<Integer> {

    /** Above what closing takes with the connections' own deadlines. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(20);

    @Mixin
    private Flags.Configuration configuration;

    @Override
    public Integer call() throws Exception {
        return Foreground.hold(
                () -> Gateway.start(GatewaySettings.load(configuration.file, System.getenv(), configuration.values)),
                Gateway::failure,
                CLOSE_DEADLINE);
    }
}
