package io.understudy.cli;

import io.understudy.bench.mirror.Far;
import io.understudy.bench.mirror.MirrorBench;
import io.understudy.bench.mirror.MirrorBenchSettings;
import io.understudy.bench.mirror.MirrorWork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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

    @Option(names = "--runs", defaultValue = "3", paramLabel = "N", description = "Runs of each; 3 by default.")
    private int runs;

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
            names = "--duration",
            converter = DurationFlag.class,
            defaultValue = "10s",
            paramLabel = "TIME",
            description = "How long load lasts; 10s by default.")
    private Duration duration;

    @Option(
            names = "--warm-up",
            converter = DurationFlag.class,
            defaultValue = "10s",
            paramLabel = "TIME",
            description = "Load before it that doesn't count; 10s by default.")
    private Duration warmUp;

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
            names = "--far",
            defaultValue = "source",
            paramLabel = "source|target",
            description = "Which cluster that is; the source by default.")
    private Far far;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "Form of the results; progress goes to standard error.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        MirrorBenchSettings settings = settings();
        return BenchRun.run(
                (folder, progress) -> new MirrorBench(settings, folder, progress),
                output == OutputForm.JSON,
                spec.commandLine());
    }

    private MirrorBenchSettings settings() {
        try {
            return new MirrorBenchSettings(
                    works.isEmpty() ? List.of(MirrorWork.values()) : works,
                    runs,
                    keys,
                    peerKeys,
                    backlog,
                    duration,
                    warmUp,
                    puts,
                    writers,
                    roundTrip,
                    far);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    private static final class WorkConverter implements ITypeConverter<MirrorWork> {

        @Override
        public MirrorWork convert(String text) {
            return WorkName.find(text, List.of(MirrorWork.values()));
        }
    }
}
