package io.understudy.bench;

import io.understudy.bench.WatchWork.Demand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Puts, and measures what their delivery takes. */
final class WatchLoadProbe implements WatchProbe {

    /** How fast puts that reach one watcher are repeated in a warm-up: the history that they make has to be kept. */
    private static final Pace SINGLE_WARM_UP = new Pace(2_000);

    private static final int WARM_UP_IN_FLIGHT = 8;

    private final WatchWork work;
    private final WatchBenchSettings settings;
    private final TestBed servers;
    private final CpuMeter cpu;

    WatchLoadProbe(WatchWork work, WatchBenchSettings settings, TestBed servers, CpuMeter cpu) {
        this.work = work;
        this.settings = settings;
        this.servers = servers;
        this.cpu = cpu;
    }

    @Override
    public int runs() {
        return settings.schedule().runs();
    }

    /**
     * The gateway until delivery gets no cheaper, at full pace, then until hardly anything is compiled; peers have
     * nothing to compile.
     */
    @Override
    public Duration warmUp(ServerPath path) {
        if (path == ServerPath.GATEWAY) {
            return cpu.warmUp(path, () -> warmUp(path, fullPace()))
                    .plus(cpu.finishCompiling(path, () -> warmUpAsMeasured(path)));
        }
        warmUpAsMeasured(path);
        return settings.schedule().warmUp();
    }

    private void warmUpAsMeasured(ServerPath path) {
        long unused = warmUp(path, new Pace(settings.putsPerSecond()));
    }

    private Pace fullPace() {
        return work.watchers().reachedByEachPut() > 1 ? Pace.FULL : SINGLE_WARM_UP;
    }

    private long warmUp(ServerPath path, Pace pace) {
        try (WatchClient client = WatchClient.open(servers.url(path), servers.access(), work.watchers())) {
            WatchLoad load = new WatchDrive(servers.leader(), servers.access())
                    .run(
                            client,
                            work.watchers(),
                            pace,
                            WARM_UP_IN_FLIGHT,
                            settings.schedule().warmUp());
            return load.events().requests();
        }
    }

    @Override
    public Run run(ServerPath path, Map<ProcessRole, Double> idle) {
        return work.demand() == Demand.FULL ? fastest(path, idle) : paced(path, idle);
    }

    /** One watcher is measured first, for comparison. */
    private Run paced(ServerPath path, Map<ProcessRole, Double> idle) {
        Pace pace = new Pace(settings.putsPerSecond());
        WatchCost one = measure(path, Watchers.one(), pace, Integer.MAX_VALUE, idle);
        return measure(path, work.watchers(), pace, Integer.MAX_VALUE, idle).beside(one);
    }

    /** With ever more puts under way; a peer may fail with many, not the gateway. */
    private Run fastest(ServerPath path, Map<ProcessRole, Double> idle) {
        List<Run> runs = new ArrayList<>();
        for (int inFlight : settings.inFlight()) {
            try {
                runs.add(measure(path, work.watchers(), Pace.FULL, inFlight, idle)
                        .with(inFlight));
            } catch (BenchException e) {
                if (path == ServerPath.GATEWAY || runs.isEmpty()) {
                    throw e;
                }
                break;
            }
        }
        return Collections.max(runs, Comparator.comparing(run -> run.figure(Figure.EVENTS_PER_SECOND)));
    }

    private WatchCost measure(
            ServerPath path, Watchers watchers, Pace pace, int inFlight, Map<ProcessRole, Double> idle) {
        try (WatchClient client = WatchClient.open(servers.url(path), servers.access(), watchers)) {
            long traffic = servers.voterTraffic();
            long own = ownMicros();
            CpuReading before = cpu.now();
            WatchLoad load = new WatchDrive(servers.leader(), servers.access())
                    .run(client, watchers, pace, inFlight, settings.schedule().duration());
            return new WatchCost(
                    load,
                    cpu.used(path, before, idle),
                    (ownMicros() - own) * 1e3 / load.events().elapsed().toNanos(),
                    servers.voterTraffic() - traffic);
        }
    }

    private static long ownMicros() {
        return ProcessCpu.micros(ProcessHandle.current().pid());
    }
}
