package io.understudy.cli;

import io.understudy.bench.mirror.Far;
import io.understudy.bench.mirror.MirrorBench;
import io.understudy.bench.mirror.MirrorBenchSettings;
import io.understudy.bench.mirror.MirrorWork;
import io.understudy.feed.etcd.WatchedVoter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy bench mirror}: the mirror beside {@code etcdctl make-mirror}. */
@Command(
        name = "mirror",
        sortOptions = false,
        description = {
            "Benchmark the mirror against etcdctl make-mirror.",
            "Each run starts a source (three voting members, one learner), a target, and the mirror or make-mirror on this machine."
        })
final class BenchMirrorCommand implements Callable<Integer> {

    @Option(
            names = "--work",
            split = ",",
            converter = WorkConverter.class,
            paramLabel = "WORK",
            description = "Comma-separated benchmarks: first-sync, backlog, live, paced (default: all).")
    private final List<MirrorWork> works = new ArrayList<>();

    @Mixin
    private RelayFlags flags;

    @Option(
            names = "--keys",
            defaultValue = "100000",
            paramLabel = "N",
            description = "Keys in the mirror's first synchronization (default: 100000).")
    private int keys;

    @Option(
            names = "--make-mirror-keys",
            defaultValue = "20000",
            paramLabel = "N",
            description = "Keys in make-mirror's first synchronization (default: 20000).")
    private int peerKeys;

    @Option(
            names = "--backlog",
            defaultValue = "20000",
            paramLabel = "N",
            description = "Commits made while the mirror is stopped (default: 20000).")
    private int backlog;

    @Option(
            names = "--puts",
            defaultValue = "200",
            paramLabel = "RATE",
            description = "Puts per second in benchmarks with a steady rate (default: 200).")
    private int puts;

    @Option(
            names = "--writers",
            defaultValue = "64",
            paramLabel = "N",
            description = "Concurrent writers in benchmarks without a steady rate (default: 64).")
    private int writers;

    @Option(
            names = "--round-trip",
            converter = DurationFlag.class,
            defaultValue = "0s",
            paramLabel = "TIME",
            description =
                    "Simulated round-trip time between the mirror or make-mirror and the cluster of --far (default: none).")
    private Duration roundTrip;

    @Option(
            names = "--cut",
            converter = DurationFlag.class,
            defaultValue = "0s",
            paramLabel = "TIME",
            description = "Duration of network partitions of the cluster of --far (default: none). The first starts one"
                    + " second into each measurement, then one every minute.")
    private Duration cut;

    @Option(
            names = "--far",
            defaultValue = "source",
            paramLabel = "source|target",
            description = "Cluster affected by --round-trip and --cut (default: source).")
    private Far far;

    @Option(
            names = "--watch",
            defaultValue = "follower",
            paramLabel = "follower|leader",
            description = "Role of the source member that the mirror watches (default: follower).")
    private WatchedVoter watch;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return BenchRun.run(this::settings, MirrorBench::of, flags.wantJson(), spec.commandLine());
    }

    private MirrorBenchSettings settings() {
        return new MirrorBenchSettings(
                works.isEmpty() ? List.of(MirrorWork.values()) : works,
                flags.runs(),
                keys,
                peerKeys,
                backlog,
                flags.duration(),
                flags.warmUp(),
                puts,
                writers,
                roundTrip,
                cut,
                far,
                watch);
    }

    private static final class WorkConverter implements ITypeConverter<MirrorWork> {

        @Override
        public MirrorWork convert(String text) {
            return WorkName.find(text, List.of(MirrorWork.values()));
        }
    }
}
