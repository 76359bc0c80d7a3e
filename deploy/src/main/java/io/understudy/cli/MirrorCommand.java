package io.understudy.cli;

import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code understudy mirror}: runs one mirror process until it is told to stop. */
@Command(
        name = "mirror",
        description = "Run a mirror: relay a cluster's commits to another etcd cluster or to Kafka until told to stop.")
final class MirrorCommand implements Callable<Integer> {

    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(20);

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "Its YAML configuration.")
    private Path config;

    @Override
    public Integer call() throws Exception {
        MirrorProcess mirrors = MirrorProcess.start(MirrorConfiguration.load(config, System.getenv()));
        return Foreground.hold(mirrors, CLOSE_DEADLINE, mirrors.failure().thenCompose(CompletableFuture::failedFuture));
    }
}
