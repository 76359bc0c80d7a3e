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

    /** What closing may take beside the wait for requests in flight. */
    private static final Duration CLOSE_MARGIN = Duration.ofSeconds(15);

    @Mixin
    private Flags.Configuration configuration;

    @Override
    public Integer call() throws Exception {
        GatewaySettings settings = GatewaySettings.load(configuration.file, System.getenv(), configuration.values);
        return Foreground.hold(
                () -> Gateway.start(settings),
                Gateway::failure,
                settings.closeTimeout().plus(CLOSE_MARGIN));
    }
}
