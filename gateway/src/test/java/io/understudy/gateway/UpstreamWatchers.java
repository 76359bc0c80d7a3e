package io.understudy.gateway;

import io.understudy.local.etcd.EtcdMember;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Watchers by the voters' metrics, sampled until closed. */
final class UpstreamWatchers implements AutoCloseable {
    private static final String METRIC = "etcd_debugging_mvcc_watcher_total ";

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<EtcdMember> voters;
    private final AtomicLong most = new AtomicLong();
    private final ScheduledExecutorService sampler = Executors.newScheduledThreadPool(1);
    private final long before;

    UpstreamWatchers(List<EtcdMember> voters) {
        this.voters = voters;
        this.before = now();
        ScheduledFuture<?> unused = sampler.scheduleWithFixedDelay(
                () -> most.accumulateAndGet(now() - before, Math::max), 0, 100, TimeUnit.MILLISECONDS);
    }

    /** The highest number of watchers beyond the initial one. */
    long most() {
        return most.get();
    }

    private long now() {
        return voters.stream().mapToLong(this::of).sum();
    }

    private long of(EtcdMember voter) {
        try {
            return http.send(
                            HttpRequest.newBuilder(voter.directClientUrl().resolve("/metrics"))
                                    .build(),
                            BodyHandlers.ofString())
                    .body()
                    .lines()
                    .filter(line -> line.startsWith(METRIC))
                    .mapToLong(line -> (long) Double.parseDouble(line.substring(METRIC.length())))
                    .sum();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        sampler.shutdownNow();
    }
}
