package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.CutRequests.Cut;
import io.understudy.mirror.takeover.CutRequests.Fault;
import io.understudy.mirror.takeover.CutRequests.Point;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Each request of a switchover or failback is cut, before and after it arrives, on real clusters, while clients write. Then an
 * operator runs the command again, or undoes it first. No acknowledged write is lost, and no lock has two holders.
 *
 * <p>Properties {@code understudy.takeover.first}, {@code last} (exclusive) and {@code every} select some: every third still
 * cuts each request before and after it arrives.
 *
 * <p>Tests invariants M37, M40.
 */
@Timeout(7_200)
final class TakeOverCutsIT {

    private static final Logger LOG = LoggerFactory.getLogger(TakeOverCutsIT.class);
    private static final int SOME = 3;
    /** Within a TTL after each move, no other client may get a lock. */
    private static final int CUTS_PER_LOCK = 9;

    private static final int EVERY = Integer.getInteger("understudy.takeover.every", 1);
    private static final TakeOverOptions OPTIONS =
            TwoSites.OPTIONS.within(Duration.ofSeconds(20), Duration.ofSeconds(10));

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM"})
    void someRequestsCut_nothingAcknowledgedIsLost(Way way) {
        try (Run run = new Run(way)) {
            List<Cut> cuts = run.cuts();
            // Spread over the steps, others for each way.
            for (int i = 0; i < SOME; i++) {
                run.cut((2 * i + (way == Way.ROLES ? 1 : 2)) * cuts.size() / (2 * SOME + 1), cuts);
            }
            run.end();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    @Tag("takeover")
    void everyRequestCut_nothingAcknowledgedIsLost(Way way) {
        try (Run run = new Run(way)) {
            List<Cut> cuts = run.cuts();
            int last = Math.min(Integer.getInteger("understudy.takeover.last", cuts.size()), cuts.size());
            for (int i = Integer.getInteger("understudy.takeover.first", 0); i < last; i += EVERY) {
                run.cut(i, cuts);
            }
            run.end();
        }
    }

    /** Clusters, clients and commands of one test. */
    private final class Run implements AutoCloseable {

        private final Way way;
        private final TwoSites sites;
        private final MirrorProcess mirror;
        private final Writers writers;
        /** The requests of a whole move, there and back. */
        private final Set<Point> points = new LinkedHashSet<>();

        private int made;
        private int reached;
        /** Whether the last cut was during the closing. */
        private boolean cutWhileClosing;

        Run(Way way) {
            this.way = way;
            sites = new TwoSites(folder, way == Way.ROLES);
            mirror = sites.startMirror();
            TwoSites.awaitSynced(mirror, sites.source);
            // From then on, each side is closed while it is not the primary.
            for (boolean back : new boolean[] {false, true}) {
                points.addAll(move(null, back, false).points());
                TwoSites.awaitSynced(mirror, back ? sites.source : sites.target);
            }
            writers = sites.opened(new Writers(sites, 3, true).withLocks());
            writers.await(50);
        }

        /** All cuts. */
        List<Cut> cuts() {
            List<Cut> cuts = new ArrayList<>();
            for (Point point : points) {
                for (Fault fault : Fault.values()) {
                    cuts.add(new Cut(point, fault, false));
                    cuts.add(new Cut(point, fault, true));
                }
            }
            LOG.info("way={} requests={} cuts={} points={}", way, points.size(), cuts.size(), points);
            return cuts;
        }

        /** Cuts a move away from the present primary, which is undone or made again. */
        void cut(int index, List<Cut> cuts) {
            Cut cut = cuts.get(index);
            String shown = "%s, cut %d of %d: %s".formatted(way, index, cuts.size(), cut);
            LOG.info("{}", shown);
            try {
                int before = sites.primary();
                reached += move(cut, before == 1, false).isReached() ? 1 : 0;
                sites.expireLocks();
                cutWhileClosing = cut.point().step().equals("close");
                if (cut.fault() == Fault.KILLED && index % 4 < 2) {
                    var unused = move(null, before == 1, true);
                }
                var unused = move(null, before == 1, false);
                assertThat(sites.primary()).as("primary").isEqualTo(1 - before);
                settled();
                made++;
                if (made % CUTS_PER_LOCK == 0) {
                    writers.awaitLock();
                }
            } catch (Throwable e) {
                throw new AssertionError(shown + ": " + e.getMessage(), e);
            }
        }

        private CutRequests move(@Nullable Cut cut, boolean back, boolean undo) {
            TakeOverOptions options = OPTIONS.with(way);
            try (CutRequests requests = new CutRequests(cut);
                    TakeOver commands = TwoSites.commands(
                            requests.to(
                                    back ? "to" : "from",
                                    sites.source.clientUrls().get(0)),
                            requests.to(
                                    back ? "from" : "to",
                                    sites.target.clientUrls().get(0)),
                            sites.tls(),
                            options.patience(),
                            sites.hasAuth())) {
                try {
                    Switchover move = back
                            ? commands.failback(options, requests::step)
                            : commands.switchover(options, requests::step);
                    if (undo) {
                        LOG.info("{}", move.undo());
                        writers.await(20);
                    } else {
                        TakeOverReport report = move.run();
                        LOG.info("{}", report);
                        // Killed while it closes the primary: whether leases expired then, or clients revoked them
                        // before,
                        // is not known.
                        assertThat(report.isWithoutLoss()
                                        || cut != null
                                        || (cutWhileClosing && Writers.areLocks(report.lost())))
                                .as(report.toString())
                                .isTrue();
                    }
                } catch (TakeOverException e) {
                    LOG.info("{}", e.getMessage());
                    if (cut == null) {
                        assertThat(e.getMessage())
                                .containsAnyOf(
                                        "is the primary of mirror dr already", "nothing to undo", "has moved to");
                    }
                }
                return requests;
            }
        }

        /** The mirror runs from the primary, clients write, and nothing is lost so far. */
        private void settled() {
            TwoSites.awaitSynced(mirror, sites.primary() == 0 ? sites.source : sites.target);
            writers.await(20);
            writers.verify();
        }

        void end() {
            writers.awaitLock();
            writers.close();
            writers.verifyAt(sites.primary());
            sites.assertEqual();
            LOG.info(
                    "way={} cuts={} reached={} writes={} locks={}",
                    way,
                    made,
                    reached,
                    writers.acknowledged(),
                    writers.locksHeld());
            if (way == Way.ROLES) {
                assertThat(writers.refusedTenants()).isEmpty();
            }
        }

        @Override
        public void close() {
            sites.close();
        }
    }
}
