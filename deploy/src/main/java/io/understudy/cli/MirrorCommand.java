package io.understudy.cli;

import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code understudy mirror}: runs one mirror process until it is told to stop. */
@Command(
        name = "mirror",
        description = "Run a mirror: relay a cluster's commits to another etcd cluster or to Kafka until told to stop.")
final class MirrorCommand implements Callable<Integer> {

    /** Above what closing takes with the connections' own deadlines. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(20);

    @Mixin
    private ConfigurationFlags configuration;

    @Override
    public Integer call() throws Exception {
        return Foreground.hold(
                () -> MirrorProcess.start(
                        MirrorConfiguration.load(configuration.file(), System.getenv(), configuration.values())),
                running -> running.failure().thenCompose(CompletableFuture::failedFuture),
                CLOSE_DEADLINE);
    }
}
