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
            "Measure the mirror beside etcd's make-mirror, in turn.",
            "Starts for each run a source of three voters and a learner, a target and a relay on this machine."
        })
final class BenchMirrorCommand implements Callable<Integer> {

    @Option(
            names = "--work",
            split = ",",
            converter = WorkConverter.class,
            paramLabel = "WORK",
            description = "first-sync, backlog, live, paced; several separated by commas. All by default.")
    private final List<MirrorWork> works = new ArrayList<>();

    @Mixin
    private RelayFlags flags;

    @Option(
            names = "--keys",
            defaultValue = "100000",
            paramLabel = "N",
            description = "Keys of the mirror's first synchronisation; 100000 by default.")
    private int keys;

    @Option(
            names = "--make-mirror-keys",
            defaultValue = "20000",
            paramLabel = "N",
            description = "Keys of make-mirror's first synchronisation; 20000 by default.")
    private int peerKeys;

    @Option(
            names = "--backlog",
            defaultValue = "20000",
            paramLabel = "N",
            description = "Commits made while the mirror is stopped; 20000 by default.")
    private int backlog;

    @Option(
            names = "--puts",
            defaultValue = "200",
            paramLabel = "RATE",
            description = "Puts per second where they have a steady rate; 200 by default.")
    private int puts;

    @Option(
            names = "--writers",
            defaultValue = "64",
            paramLabel = "N",
            description = "Who put one key after the other, where they have none; 64 by default.")
    private int writers;

    @Option(
            names = "--round-trip",
            converter = DurationFlag.class,
            defaultValue = "0s",
            paramLabel = "TIME",
            description = "Keep one cluster that far from the relay; none by default.")
    private Duration roundTrip;

    @Option(
            names = "--cut",
            converter = DurationFlag.class,
            defaultValue = "0s",
            paramLabel = "TIME",
            description = "Cut that cluster off for so long, a second after each measurement began and each minute from"
                    + " then on; never by default.")
    private Duration cut;

    @Option(
            names = "--far",
            defaultValue = "source",
            paramLabel = "source|target",
            description = "Which cluster that is; the source by default.")
    private Far far;

    @Option(
            names = "--watch",
            defaultValue = "follower",
            paramLabel = "follower|leader",
            description = "Where the mirror watches the source; a follower by default.")
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
