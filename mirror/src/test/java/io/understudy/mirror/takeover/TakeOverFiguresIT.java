package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.local.fault.FaultProxy;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.home.Move.Way;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Prints how long writers pause in a switchover, and how fast a mirror copies; nothing acknowledged is lost meanwhile. The
 * property {@code understudy.takeover.keys} leaves out rows of more keys.
 */
@Tag("speed")
@Timeout(3_600)
final class TakeOverFiguresIT {

    private static final int MOST_KEYS = Integer.getInteger("understudy.takeover.keys", 1_000_000);
    private static final int SAMPLES = 50;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"1000,0,0", "100000,0,0", "100000,10000,0", "100000,0,40", "1000000,0,0"})
    void figures(int keys, int leases, int delayMillis) {
        assumeTrue(keys <= MOST_KEYS);
        try (TwoSites sites = new TwoSites(folder, true)) {
            FaultProxy link =
                    sites.opened(FaultProxy.to(address(sites.source.clientUrls().get(0))));
            link.delay(Duration.ofMillis(delayMillis));
            URI source = URI.create("http://127.0.0.1:" + link.port());
            URI target = sites.target.clientUrls().get(0);
            sites.fill(keys, leases);
            long began = System.nanoTime();
            MirrorProcess mirror = sites.opened(Mirrors.start(TwoSites.mirror(source, target, sites.tls())));
            awaitSynced(mirror, source);
            long copied = millisSince(began);
            List<Long> lags = lags(sites);
            moved(sites, source, target, false, mirror);
            moved(sites, source, target, true, mirror);
            Writers writers = sites.opened(new Writers(sites, 8, true));
            if (delayMillis > 0) {
                // A mirror joins no put and deletion of one key, so one in a round trip is the most that it follows.
                writers.paced(Duration.ofMillis(delayMillis * 4L));
            }
            List<Long> pauses = new ArrayList<>();
            List<Long> durations = new ArrayList<>();
            for (boolean back : new boolean[] {false, true, false, true}) {
                writers.await(200);
                var unused = writers.pauses();
                durations.add(moved(sites, source, target, back, mirror));
                writers.await(200);
                pauses.addAll(writers.pauses());
            }
            writers.close();
            writers.verifyAt(0);
            System.out.printf(
                    "keys=%d leases=%d delay=%dms copy=%dms (%d keys/s) lag p50=%dms max=%dms pause p50=%dms max=%dms"
                            + " command=%s ms%n",
                    keys,
                    leases,
                    delayMillis,
                    copied,
                    keys * 1_000L / copied,
                    middle(lags),
                    lags.get(lags.size() - 1),
                    middle(pauses.stream().sorted().toList()),
                    pauses.stream().max(Long::compare).orElseThrow(),
                    durations);
        }
    }

    private static long moved(TwoSites sites, URI source, URI target, boolean back, MirrorProcess mirror) {
        long began = System.nanoTime();
        try (TakeOver commands =
                TwoSites.commands(source, target, sites.tls(), TwoSites.OPTIONS.patience(), sites.hasAuth())) {
            TakeOverOptions options = TwoSites.OPTIONS.with(Way.ROLES);
            Switchover move = back ? commands.failback(options, step -> {}) : commands.switchover(options, step -> {});
            assertThat(move.run().loss()).isEqualTo(TakeOverReport.NONE);
        }
        long taken = millisSince(began);
        awaitSynced(mirror, back ? source : target);
        return taken;
    }

    /** Also that a move would not be refused for the mirror's lag. */
    private static void awaitSynced(MirrorProcess mirror, URI from) {
        await().atMost(Duration.ofMinutes(10))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> TwoSites.isSynced(mirror.reports().get(0), from)
                        && mirror.reports().get(0).lagRevisions().orElse(Long.MAX_VALUE)
                                < TwoSites.OPTIONS.maxLag() / 2);
    }

    /** From the acknowledgement of a write at the source until the target has it, in milliseconds, sorted. */
    private static List<Long> lags(TwoSites sites) {
        TakeOverCalls source = sites.client(sites.source).with(Mirrors.PATIENCE);
        TakeOverCalls target = sites.client(sites.target).with(Mirrors.PATIENCE);
        List<Long> lags = new ArrayList<>();
        ByteString key = ByteString.copyFromUtf8("/app/lag");
        for (int i = 0; i < SAMPLES; i++) {
            ByteString value = ByteString.copyFromUtf8(String.valueOf(i));
            var unused = source.txn(
                    "a write",
                    TxnRequest.newBuilder().addSuccess(Records.put(key, value)).build());
            long began = System.nanoTime();
            await().atMost(Mirrors.PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> target.get(key)
                    .filter(found -> found.getValue().equals(value))
                    .isPresent());
            lags.add(millisSince(began));
        }
        return lags.stream().sorted().toList();
    }

    private static InetSocketAddress address(URI url) {
        return new InetSocketAddress(url.getHost(), url.getPort());
    }

    private static long millisSince(long began) {
        return (System.nanoTime() - began) / 1_000_000;
    }

    private static long middle(List<Long> sorted) {
        return sorted.get(sorted.size() / 2);
    }
}
