package io.understudy.bench.mirror;

import io.understudy.bench.Bench;
import io.understudy.bench.relay.RelayBench;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.feed.etcd.WatchedVoter;
import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Measures the mirror beside make-mirror, in turn, so that whatever else the machine does meets both. */
public final class MirrorBench {

    private MirrorBench() {}

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    public static Bench of(MirrorBenchSettings settings, Path folder, Progress progress) {
        return new RelayBench<>(
                new RelayBench.Plan<>(settings.works(), settings.runs(), heading(settings), json(settings)),
                new MirrorRuns(folder, settings, progress),
                progress);
    }

    private static List<String> heading(MirrorBenchSettings settings) {
        List<String> lines = new ArrayList<>();
        lines.add("Source of three voting members and a learner, target of one member, all new in each run; values of "
                + SourceLoad.VALUE_BYTES + " B; CPU: user and system time of the relay's process.");
        if (settings.watch() == WatchedVoter.LEADER) {
            lines.add("The mirror watches the source's leader.");
        }
        if (!settings.roundTrip().isZero()) {
            lines.add("The " + settings.far().name().toLowerCase(Locale.ROOT) + " has a round trip of "
                    + settings.roundTrip().toMillis() + " ms to the relay.");
        }
        if (!settings.cut().isZero()) {
            lines.add("The " + settings.far().name().toLowerCase(Locale.ROOT) + " is partitioned from the relay for "
                    + settings.cut().toMillis()
                    + " ms, one second into each measurement and then every minute.");
        }
        settings.works().forEach(work -> lines.add(work + ": " + demand(settings, work)));
        return lines;
    }

    private static String demand(MirrorBenchSettings settings, MirrorWork work) {
        return switch (work) {
            case VERIFY, RESTART, RESYNC -> settings.keys() + " keys";
            case FIRST_SYNC -> settings.keys() + " keys, " + settings.peerKeys() + " for make-mirror";
            case BACKLOG -> settings.backlog() + " commits";
            case LIVE -> settings.writers() + " writers";
            case PACED -> settings.putsPerSecond() + " puts/s";
        };
    }

    private static Map<String, Object> json(MirrorBenchSettings settings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("durationMillis", settings.duration().toMillis());
        all.put("roundTripMillis", settings.roundTrip().toMillis());
        all.put("cutMillis", settings.cut().toMillis());
        all.put("watch", settings.watch().name().toLowerCase(Locale.ROOT));
        all.put("far", settings.far().name().toLowerCase(Locale.ROOT));
        return all;
    }
}
