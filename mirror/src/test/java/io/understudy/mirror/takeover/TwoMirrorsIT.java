package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.TxnRequest;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.TwoSites.Mirrored;
import io.understudy.vocabulary.KeyRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two mirrors between the same two clusters, each with its own range, records and clients: the role of each moves alone.
 *
 * <p>Tests invariants M37, M40.
 */
@Timeout(300)
final class TwoMirrorsIT {

    private static final Mirrored DR = TwoSites.DR;
    private static final Mirrored OTHER = new Mirrored("other", "/other/");

    @TempDir
    private Path folder;

    @Test
    void theRoleOfEachMovesAlone_andClientsOfTheOtherOneWriteMeanwhile() {
        try (Run run = new Run(Way.ROLES)) {
            run.move(DR, false);
            run.move(OTHER, false);
            run.move(OTHER, true);
            run.move(DR, true);
            run.failOver(DR);
            run.end();
        }
    }

    @Test
    void aMirrorThatFailedDoesNotStopTheOtherOne() {
        try (Run run = new Run(Way.ROLES)) {
            run.delete(1, ReservedKeys.all(DR.name(), ""));
            run.awaitState(DR, MirrorState.FAILED);
            run.move(OTHER, false);
            run.move(OTHER, true);
            assertThat(run.report(DR).state()).isEqualTo(MirrorState.FAILED);
            run.delete(1, DR.scope().targetRanges().get(0));
            run.continues(DR);
            run.end();
        }
    }

    /** As documented: they are closed together, and the last one that moves back opens the cluster. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"CORRUPT_ALARM", "AUTH_ENABLE"})
    void whatClosesTheWholeClusterMovesBothTogether(Way way) {
        try (Run run = new Run(way)) {
            assertThat(run.move(DR, false).next()).noneMatch(Run::isKeptClosed);
            run.continues(DR);
            run.awaitRefused(OTHER, 0);
            assertThat(run.move(OTHER, false).next()).noneMatch(Run::isKeptClosed);
            run.continues(DR);
            run.continues(OTHER);
            assertThat(run.move(OTHER, true).next()).anyMatch(Run::isKeptClosed);
            run.awaitRefused(OTHER, 0);
            run.awaitRefused(DR, 1);
            assertThat(run.move(DR, true).next()).noneMatch(Run::isKeptClosed);
            run.continues(DR);
            run.continues(OTHER);
            // The mirror that stays has closed the target.
            assertThat(run.move(DR, false).next()).anyMatch(Run::isKeptClosed);
            run.awaitRefused(DR, 1);
            assertThat(run.move(DR, true).next()).noneMatch(Run::isKeptClosed);
            run.requireNoneFailed();
            run.end();
        }
    }

    /** Clusters, clients and commands of one test. */
    private final class Run implements AutoCloseable {

        private final Way way;
        private final TwoSites sites;
        private final MirrorProcess mirrors;
        private final Map<Mirrored, Writers> writers;

        Run(Way way) {
            this.way = way;
            sites = new TwoSites(folder, way == Way.ROLES);
            mirrors = sites.startMirrors(DR, OTHER);
            for (Mirrored each : List.of(DR, OTHER)) {
                TwoSites.awaitSynced(mirrors, each, sites.source);
            }
            // The target of a mirror that was never moved is open.
            writers = Stream.of(DR, OTHER)
                    .collect(Collectors.toMap(
                            each -> each, each -> sites.opened(new Writers(sites, each.prefix(), 1, false))));
            continues(DR);
            continues(OTHER);
        }

        private Writers writers(Mirrored mirrored) {
            return writers.get(mirrored);
        }

        MirrorReport report(Mirrored mirrored) {
            return TwoSites.report(mirrors, mirrored);
        }

        static boolean isKeptClosed(String next) {
            return next.contains("stays closed to clients, since other mirrors have closed it too: ");
        }

        void requireNoneFailed() {
            assertThat(mirrors.failure()).isNotDone();
        }

        void awaitState(Mirrored mirrored, MirrorState state) {
            await().atMost(Mirrors.PATIENCE)
                    .untilAsserted(() -> assertThat(report(mirrored).state()).isEqualTo(state));
        }

        /** Moves the role of one mirror; with roles, clients and mirror of the other range do not notice. */
        TakeOverReport move(Mirrored moved, boolean back) {
            Mirrored other = moved.equals(DR) ? OTHER : DR;
            int primary = sites.primary(other);
            int refused = writers(other).refused(primary);
            boolean isApart = way == Way.ROLES && report(other).state() != MirrorState.FAILED;
            TakeOverReport report;
            try (TakeOver commands = sites.commands(moved)) {
                TakeOverOptions options = TwoSites.OPTIONS.with(way);
                TakeOver.Steps steps = step -> {
                    if (step.equals("open")) {
                        writers(moved).mayMove();
                    }
                    if (isApart) {
                        continues(other);
                    }
                };
                report = (back ? commands.failback(options, steps) : commands.switchover(options, steps)).run();
            }
            assertThat(report.isWithoutLoss()).as(report.toString()).isTrue();
            assertThat(sites.primary(moved)).isEqualTo(back ? 0 : 1);
            assertThat(sites.primary(other)).isEqualTo(primary);
            if (way == Way.ROLES) {
                continues(moved);
                assertThat(writers(other).refused(primary)).isEqualTo(refused);
            }
            return report;
        }

        /** Clients write at the primary, and the mirror copies that. */
        void continues(Mirrored mirrored) {
            writers(mirrored).await(10);
            int primary = sites.primary(mirrored);
            LocalEtcd from = primary == 0 ? sites.source : sites.target;
            long head = sites.records(mirrored, primary).read().revision();
            await().atMost(Mirrors.PATIENCE).pollInterval(Duration.ofMillis(20)).untilAsserted(() -> {
                MirrorReport report = report(mirrored);
                assertThat(TwoSites.isSynced(report, from.clientUrls().get(0)) && report.completeRevision() >= head)
                        .as("from revision " + head + ": " + report)
                        .isTrue();
            });
            writers(mirrored).verify();
        }

        /** A side refuses the clients of a range. */
        void awaitRefused(Mirrored mirrored, int side) {
            int before = writers(mirrored).refused(side);
            await().atMost(Mirrors.PATIENCE).until(() -> writers(mirrored).refused(side) > before);
        }

        /** The role of one mirror moves while the source is lost; it returns with both ranges. */
        void failOver(Mirrored moved) {
            Mirrored other = moved.equals(DR) ? OTHER : DR;
            EtcdMember lost = sites.source.members().get(0);
            lost.pause();
            TakeOverReport report;
            try (TakeOver commands = sites.commands(moved)) {
                report = commands.failover(false, TwoSites.OPTIONS.with(way).forced(), step -> {})
                        .run();
            }
            long reached = Long.parseLong(report.facts().get("data up to").replaceAll("^revision (\\d+) .*", "$1"));
            writers(moved).await(10);
            lost.resume();
            awaitState(moved, MirrorState.CONFLICT);
            continues(other);
            // The mirror may be closing the source at that moment, and refuses commands meanwhile.
            TakeOverReport rejoined = await().atMost(Mirrors.PATIENCE)
                    .ignoreExceptionsMatching(
                            e -> String.valueOf(e.getMessage()).startsWith("another command is moving"))
                    .until(() -> rejoined(moved), ended -> true);
            long closed = sites.records(moved, 0).read().revision();
            writers(moved).lost(0, reached, closed);
            assertThat(rejoined.lost()).containsAll(writers(moved).lostKeys(0, reached, closed));
            continues(moved);
            continues(other);
        }

        private TakeOverReport rejoined(Mirrored mirrored) {
            try (TakeOver commands = sites.commands(mirrored)) {
                return commands.rejoin(TwoSites.OPTIONS.with(way), step -> {}).run();
            }
        }

        void delete(int side, KeyRange range) {
            var unused = sites.administrator(side)
                    .txn(
                            "a delete",
                            TxnRequest.newBuilder()
                                    .addSuccess(Records.delete(range))
                                    .build());
        }

        /** All is as acknowledged, and equal at both sides. */
        void end() {
            for (Mirrored each : List.of(DR, OTHER)) {
                continues(each);
                writers(each).close();
                writers(each).verifyAt(sites.primary(each));
                sites.assertEqual(each);
                if (way == Way.ROLES) {
                    assertThat(writers(each).refusedTenants()).isEmpty();
                }
            }
        }

        @Override
        public void close() {
            sites.close();
        }
    }
}
