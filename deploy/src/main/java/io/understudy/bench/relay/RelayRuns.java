package io.understudy.bench.relay;

import io.understudy.lab.progress.Progress;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Relays measured in turn, so that whatever else the machine does meets all of them. */
public final class RelayRuns {

    /** One run of a work. */
    public interface Measuring<W> {

        /**
         * One run of one relay.
         *
         * @param number of the run, from 1
         */
        Map<RelayFigure, Double> run(W work, Relay relay, int number) throws InterruptedException;
    }

    private RelayRuns() {}

    /** Each relay that many times for each work; says on {@code progress} what came of each run. */
    public static <W extends RelayWork> List<RelayReport.Result> all(
            List<W> works, int times, Measuring<W> measuring, Progress progress) throws InterruptedException {
        List<RelayReport.Result> results = new ArrayList<>();
        for (W work : works) {
            Map<Relay, List<Map<RelayFigure, Double>>> runs = new EnumMap<>(Relay.class);
            for (int number = 1; number <= times; number++) {
                for (Relay relay : work.relays()) {
                    Map<RelayFigure, Double> figures = measuring.run(work, relay, number);
                    runs.computeIfAbsent(relay, each -> new ArrayList<>()).add(figures);
                    progress.note(work + ", " + relay + ", run " + number + ": "
                            + figures.entrySet().stream()
                                    .map(each -> each.getKey().title() + " "
                                            + each.getKey().format(each.getValue()))
                                    .collect(Collectors.joining(", ")));
                }
            }
            results.add(new RelayReport.Result(work, runs));
        }
        return results;
    }

    /** Of this machine, before anything is started. */
    public static double loadAverage() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    /** What figures depend on, in a line. */
    public static String surroundings(double loadAverage, String etcd) {
        return String.format(
                Locale.ROOT,
                "%d cores, load average before %.1f, etcd %s, Java %s",
                Runtime.getRuntime().availableProcessors(),
                loadAverage,
                etcd,
                System.getProperty("java.version"));
    }
}
