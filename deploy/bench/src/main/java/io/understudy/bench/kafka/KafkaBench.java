package io.understudy.bench.kafka;

import io.understudy.bench.Bench;
import io.understudy.bench.relay.Relay;
import io.understudy.bench.relay.RelayBench;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures the mirror into Kafka, and from there on. */
public final class KafkaBench {

    private KafkaBench() {}

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    public static Bench of(KafkaBenchSettings settings, Path folder, Progress progress) {
        return new RelayBench<>(
                new RelayBench.Plan<>(settings.works(), settings.runs(), heading(settings), json(settings)),
                new KafkaMeasurements(folder, settings, progress),
                progress);
    }

    private static List<String> heading(KafkaBenchSettings settings) {
        List<String> lines = new ArrayList<>();
        lines.add(
                "Source of three voting members and a learner, one Kafka broker, a target cluster of one member, all new"
                        + " in each run; values of " + SourceLoad.VALUE_BYTES
                        + " B; CPU: user and system time of the last process on the path.");
        lines.add("Partitions: " + settings.partitions() + "; bytes per record: " + ProducerTool.recordBytes()
                + " (key, value, headers). The mirror writes each record to two topics. " + Relay.PRODUCER
                + " writes it to one, as a value, in transactions of " + ProducerTool.TRANSACTION_MILLIS
                + " ms with the mirror's producer properties; its p50 and p99 are from send to acknowledgement.");
        settings.works().forEach(work -> lines.add(work + ": " + demand(settings, work)));
        return lines;
    }

    private static String demand(KafkaBenchSettings settings, KafkaWork work) {
        return switch (work) {
            case HISTORY -> settings.changes() + " changes";
            case SINGLE -> settings.commits() + " commits";
            case PACED -> settings.putsPerSecond() + " puts/s";
        };
    }

    private static Map<String, Object> json(KafkaBenchSettings settings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("durationMillis", settings.duration().toMillis());
        all.put("changes", settings.changes());
        all.put("commits", settings.commits());
        all.put("putsPerSecond", settings.putsPerSecond());
        all.put("partitions", settings.partitions());
        return all;
    }
}
