package io.understudy.bench;

import io.understudy.bench.Watchers.Spread;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures by how much idle watchers make a server grow.
 *
 * <p>Once only: a server that gave memory back to its heap takes it from there the next time.
 */
record WatchMemoryProbe(Watchers shared, TestBed servers) implements WatchProbe {

    private static final Duration SETTLING = Duration.ofSeconds(2);
    private static final Watchers FEW_SHARED = new Watchers(100, Spread.SHARED, false);
    private static final Watchers FEW_EACH = new Watchers(100, Spread.EACH, false);
    private static final Watchers EACH = new Watchers(2_000, Spread.EACH, false);

    @Override
    public int runs() {
        return 1;
    }

    /** A few come and go, so that the code for them is there. */
    @Override
    public Duration warmUp(ServerPath path) throws InterruptedException {
        WatchClient.open(servers.url(path), servers.access(), FEW_SHARED).close();
        WatchClient.open(servers.url(path), servers.access(), FEW_EACH).close();
        TimeUnit.MILLISECONDS.sleep(SETTLING.toMillis());
        return SETTLING;
    }

    @Override
    public Run run(ServerPath path, Map<ProcessRole, Double> idle) throws InterruptedException {
        double before = residentBytes(path);
        try (WatchClient many = WatchClient.open(servers.url(path), servers.access(), shared)) {
            double withShared = residentBytes(path);
            try (WatchClient more = WatchClient.open(servers.url(path), servers.access(), EACH)) {
                double withEach = residentBytes(path);
                many.check();
                more.check();
                return new Run(Map.of(
                        Figure.SHARED_BYTES, (withShared - before) / shared.count(),
                        Figure.EACH_BYTES, (withEach - withShared) / EACH.count()));
            }
        }
    }

    private long residentBytes(ServerPath path) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(SETTLING.toMillis());
        Server server = servers.serving(path);
        if (server.role() == ProcessRole.GATEWAY) {
            ProcessMemory.collectGarbage(server.pid());
        }
        return ProcessMemory.residentBytes(server.pid());
    }
}
