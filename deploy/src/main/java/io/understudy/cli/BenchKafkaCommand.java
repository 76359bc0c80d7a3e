package io.understudy.cli;

import io.understudy.bench.kafka.KafkaBench;
import io.understudy.bench.kafka.KafkaBenchSettings;
import io.understudy.bench.kafka.KafkaWork;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy bench kafka}: the mirror into Kafka, and on to another cluster. */
@Command(
        name = "kafka",
        sortOptions = false,
        description = {
            "Benchmark mirroring to Kafka, and from Kafka to another cluster, against a plain watch and Kafka's"
                    + " ProducerPerformance.",
            "Each run starts a source (three voting members, one learner), a broker, a target and mirrors on this"
                    + " machine."
        })
final class BenchKafkaCommand implements Callable<Integer> {

    @Option(
            names = "--work",
            split = ",",
            converter = WorkConverter.class,
            paramLabel = "WORK",
            description = "Comma-separated benchmarks: history, single, paced (default: all).")
    private final List<KafkaWork> works = new ArrayList<>();

    @Mixin
    private RelayFlags flags;

    @Option(
            names = "--changes",
            defaultValue = "512000",
            paramLabel = "N",
            description = "Changes written by the benchmark history, in large commits (default: 512000).")
    private int changes;

    @Option(
            names = "--commits",
            defaultValue = "20000",
            paramLabel = "N",
            description = "Commits written by the benchmark single, of one change each (default: 20000).")
    private int commits;

    @Option(
            names = "--puts",
            defaultValue = "500",
            paramLabel = "RATE",
            description = "Puts per second in benchmarks with a steady rate (default: 500).")
    private int puts;

    @Option(
            names = "--partitions",
            defaultValue = "1",
            paramLabel = "N",
            description = "Partitions of the change topic (default: 1).")
    private int partitions;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return BenchRun.run(this::settings, KafkaBench::of, flags.wantJson(), spec.commandLine());
    }

    private KafkaBenchSettings settings() {
        return new KafkaBenchSettings(
                works.isEmpty() ? List.of(KafkaWork.values()) : works,
                flags.runs(),
                changes,
                commits,
                flags.duration(),
                flags.warmUp(),
                puts,
                partitions);
    }

    private static final class WorkConverter implements ITypeConverter<KafkaWork> {

        @Override
        public KafkaWork convert(String text) {
            return WorkName.find(text, List.of(KafkaWork.values()));
        }
    }
}
