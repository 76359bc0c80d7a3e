package io.understudy.bench;

import io.understudy.bench.CountedWatchStream.Deliveries;
import io.understudy.bench.CpuMeter.CpuReading;
import io.understudy.bench.WatchWork.Demand;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Puts, and measures what their delivery takes. */
record WatchLoadProbe(WatchWork work, WatchBenchSettings settings, TestBed servers, CpuMeter cpu)
        implements WatchProbe {

    /** How fast puts that reach one watcher are repeated in a warm-up: the history that they make has to be kept. */
    private static final Pace SINGLE_WARM_UP = new Pace(2_000);

    private static final int WARM_UP_IN_FLIGHT = 8;

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

    /**
     * The result of a run in which every watcher received every event once.
     *
     * @param puts that were made
     * @param events delivered to all watchers together, in the time from the first put until the last delivery
     * @param sinceAcknowledged from a put's acknowledgement to its delivery, of some watchers; zero if it was there before
     * @param sinceSent from when it was sent
     */
    record WatchLoad(long puts, Tally events, Latencies sinceAcknowledged, Latencies sinceSent) {

        static WatchLoad of(List<Putter.Put> puts, Deliveries delivered, Tally events) {
            long[] acknowledged = new long[delivered.samples()];
            long[] sent = new long[delivered.samples()];
            for (int sample = 0; sample < sent.length; sample++) {
                Putter.Put put = puts.get((int) delivered.number(sample));
                acknowledged[sample] =
                        Math.max(0, delivered.nanos(sample) - put.acknowledged().get()) / 1_000;
                sent[sample] = (delivered.nanos(sample) - put.sent()) / 1_000;
            }
            return new WatchLoad(puts.size(), events, Latencies.of(acknowledged), Latencies.of(sent));
        }
    }

    /**
     * A load and what it took.
     *
     * @param cpuMicros of the path's servers, less what they use when idle
     * @param loadCores cores that the load generator used
     * @param voterBytes between voters and their clients; zero if not measured
     */
    private record WatchCost(WatchLoad load, Map<ProcessRole, Double> cpuMicros, double loadCores, long voterBytes) {

        WatchCost {
            cpuMicros = Map.copyOf(cpuMicros);
        }

        Map<ProcessRole, Double> cpuMicrosPerEvent() {
            Map<ProcessRole, Double> perEvent = new HashMap<>(cpuMicros);
            perEvent.replaceAll((role, micros) -> micros / load.events().requests());
            return perEvent;
        }

        double cpuMicrosPerPut() {
            return CpuMeter.sum(cpuMicros) / load.puts();
        }

        double votersMicrosPerPut() {
            return cpuMicros.getOrDefault(ProcessRole.VOTERS, 0.0) / load.puts();
        }

        double voterBytesPerPut() {
            return (double) voterBytes / load.puts();
        }

        /**
         * The figures of puts at a steady rate.
         *
         * @param one the same puts with one watcher
         */
        Run beside(WatchCost one) {
            Map<Figure, Double> figures = figures();
            double eventsPerPut = (double) load.events().requests() / load.puts();
            figures.put(Figure.CPU_LESS_PUTS, (cpuMicrosPerPut() - one.cpuMicrosPerPut()) / eventsPerPut);
            figures.put(Figure.VOTERS_TO_ONE, votersMicrosPerPut() / one.votersMicrosPerPut());
            if (one.voterBytes > 0) {
                figures.put(Figure.BYTES_TO_ONE, voterBytesPerPut() / one.voterBytesPerPut());
            }
            return new Run(figures, cpuMicrosPerEvent());
        }

        /** The figures of puts at full pace. */
        Run with(int inFlight) {
            Map<Figure, Double> figures = figures();
            figures.put(Figure.IN_FLIGHT, (double) inFlight);
            return new Run(figures, cpuMicrosPerEvent());
        }

        private Map<Figure, Double> figures() {
            Map<Figure, Double> figures = new EnumMap<>(Figure.class);
            figures.put(Figure.EVENTS_PER_SECOND, load.events().perSecond());
            figures.put(
                    Figure.PUTS_PER_SECOND,
                    load.events().perSecond() * load.puts() / load.events().requests());
            figures.putAll(Run.latencies(load.sinceAcknowledged()));
            figures.put(Figure.SENT_P50_MILLIS, load.sinceSent().millis(0.5));
            figures.put(Figure.SENT_P99_MILLIS, load.sinceSent().millis(0.99));
            figures.put(Figure.LOAD_CORES, loadCores);
            figures.put(Figure.CPU_PER_EVENT, CpuMeter.sum(cpuMicrosPerEvent()));
            if (voterBytes > 0) {
                figures.put(Figure.BYTES_PER_PUT, voterBytesPerPut());
            }
            return figures;
        }
    }

    /**
     * Puts, and checks that the puts reach watchers.
     *
     * @param leader where to put
     * @param access the identity of the client
     */
    record WatchDrive(URI leader, Access access) {

        private static final long PAUSE_NANOS = 50_000;

        /**
         * Puts for a time and waits until everything is delivered.
         *
         * @param client has not been used in a run before
         * @param inFlight how many puts may be under way: sent, but not yet delivered to all their watchers
         * @throws BenchException a put failed, or something was lost or repeated
         */
        WatchLoad run(WatchClient client, Watchers watchers, Pace pace, int inFlight, Duration duration) {
            try (Putter putter = new Putter(leader, access)) {
                long began = System.nanoTime();
                long end = began + duration.toNanos();
                do {
                    awaitNanos(began + pace.dueNanos(putter.count()));
                    awaitRoom(client, (long) (putter.count() - inFlight + 1) * watchers.reachedByEachPut());
                    putter.put();
                } while (began + pace.dueNanos(putter.count()) < end && System.nanoTime() < end);
                Deliveries delivered = client.await(putter.count());
                Tally events = new Tally(client.delivered(), Duration.ofNanos(System.nanoTime() - began));
                return WatchLoad.of(putter.awaitAll(), delivered, events);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new BenchException("interrupted", e);
            }
        }

        private static void awaitRoom(WatchClient client, long delivered) {
            while (client.delivered() < delivered) {
                client.check();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }

        private static void awaitNanos(long due) throws InterruptedException {
            long wait = due - System.nanoTime();
            if (wait > 0) {
                TimeUnit.NANOSECONDS.sleep(wait);
            }
        }
    }
}
