package io.understudy.cli;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code understudy mirror}: runs one mirror process until it is told to stop. */
@Command(
        name = "mirror",
        description = "Run a mirror: relay a cluster's commits to another etcd cluster or to Kafka until told to stop.")
final class MirrorCommand implements Callable<Integer> {

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "Its YAML configuration.")
    private Path config;

    @Override
    public Integer call() {
        throw new IllegalStateException("this build has no mirror to start with " + config);
    }
}
