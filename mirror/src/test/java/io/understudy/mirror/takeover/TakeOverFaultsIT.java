package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.fault.FaultProxy;
import io.understudy.local.fault.SlowDisk;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.home.Move.Way;
import io.understudy.tls.TlsFiles;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves of the primary role while a seed chooses faults: of the command's process, of members, of the mirror, and of the
 * links between them. Commands and mirror are processes. The writers check that nothing acknowledged is lost.
 *
 * <p>Properties: {@code understudy.takeover.faults}, how many in all; {@code understudy.takeover.tls}, {@code true} for TLS;
 * {@code understudy.takeover.keys} and {@code understudy.takeover.leases}, which the source has at first; {@code
 * understudy.seed}.
 *
 * <p>Tests invariants M37, M40.
 */
@Tag("takeover")
@Timeout(10_800)
final class TakeOverFaultsIT {

    private static final Logger LOG = LoggerFactory.getLogger(TakeOverFaultsIT.class);
    private static final int FAULTS = Integer.getInteger("understudy.takeover.faults", 300);
    private static final boolean TLS = Boolean.getBoolean("understudy.takeover.tls");
    private static final int KEYS = Integer.getInteger("understudy.takeover.keys", 0);
    private static final int LEASES = Integer.getInteger("understudy.takeover.leases", 0);
    private static final int FAULTS_PER_FAILOVER = 10;
    private static final List<String> STEPS = List.of("compare", "close", "drain", "move", "open");
    private static final int LONGEST_FAULT_MILLIS = 3_000;
    /** A fault within a step comes that much after it begins, at most. */
    private static final int LATEST_MILLIS = 60;
    /** Of each flush: a move takes 0.1 s with fast disks. */
    private static final Duration SLOW = Duration.ofMillis(300);

    private enum Fault {
        KILL_COMMAND,
        PAUSE_COMMAND,
        TWO_COMMANDS,
        COMMAND_AND_UNDO,
        COMMAND_AND_REVERSE,
        PAUSE_SOURCE,
        PAUSE_TARGET,
        SLOW_DISK_OF_SOURCE,
        SLOW_DISK_OF_TARGET,
        PAUSE_MIRROR,
        KILL_MIRROR,
        COMMAND_FROM_SOURCE,
        COMMAND_FROM_TARGET,
        MIRROR_FROM_SOURCE,
        MIRROR_FROM_TARGET
    }

    /** A first copy of leases takes some commits for each, each written to disk. */
    private static final boolean FLUSHES = SlowDisk.isAvailable() && LEASES == 0;

    private static final List<Fault> SLOW_DISKS = List.of(Fault.SLOW_DISK_OF_SOURCE, Fault.SLOW_DISK_OF_TARGET);
    private static final List<Fault> KINDS = Stream.of(Fault.values())
            .filter(fault -> FLUSHES || !SLOW_DISKS.contains(fault))
            .toList();
    private static final List<Fault> LINKS = List.of(
            Fault.COMMAND_FROM_SOURCE, Fault.COMMAND_FROM_TARGET, Fault.MIRROR_FROM_SOURCE, Fault.MIRROR_FROM_TARGET);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void mixedFaults_nothingAcknowledgedIsLost(Way way) throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed + way.name().hashCode());
        try (Run run = new Run(way)) {
            Writers writers = run.startWriters().withLocks();
            run.awaitSynced();
            for (int fault = 0; fault < FAULTS / 3; fault++) {
                run.fault(random, "%s, seed %d, fault %d".formatted(way, seed, fault));
            }
            writers.awaitLock();
            writers.verify();
            run.end();
            LOG.info("way={} seed={} faults={} writes={}", way, seed, FAULTS / 3, writers.acknowledged());
        }
    }

    @Test
    void failoverAndRejoin_nothingUpToTheReportedRevisionIsLost() throws Exception {
        try (Run run = new Run(Way.AUTH_ENABLE)) {
            Writers writers = run.startWriters();
            for (int round = 0; round < Math.max(1, FAULTS / 3 / FAULTS_PER_FAILOVER); round++) {
                run.failover();
            }
            run.end();
            LOG.info("rounds={} writes={}", FAULTS / 3 / FAULTS_PER_FAILOVER, writers.acknowledged());
        }
    }

    /** Clusters, processes and links of one test. */
    private final class Run implements AutoCloseable {

        private final Way way;
        private final TwoSites sites;
        private final List<FaultProxy> links = new ArrayList<>();
        private final MirrorJvm mirror;
        private Writers writers;
        private int processes;

        Run(Way way) throws Exception {
            this.way = way;
            sites = new TwoSites(folder, way == Way.ROLES, TLS, FLUSHES);
            for (int party = 0; party < 2; party++) {
                for (LocalEtcd cluster : List.of(sites.source, sites.target)) {
                    URI url = cluster.members().get(0).directClientUrl();
                    links.add(sites.opened(FaultProxy.to(new InetSocketAddress(url.getHost(), url.getPort()))));
                }
            }
            sites.fill(KEYS, LEASES);
            mirror = process("mirror", 2);
            mirror.start();
            awaitCopied();
            for (boolean back : new boolean[] {false, true}) {
                moved(back);
                awaitSynced();
            }
        }

        Writers startWriters() {
            writers = sites.opened(new Writers(sites, 2, true));
            writers.await(50);
            return writers;
        }

        /** A process that reaches the clusters by two of the links. */
        private MirrorJvm process(String command, int link) throws Exception {
            Path own = Files.createDirectories(folder.resolve(command + processes++));
            List<String> arguments =
                    new ArrayList<>(List.of(command, way.name(), url(links.get(link)), url(links.get(link + 1))));
            TlsFiles tls = sites.tls();
            if (tls != null) {
                arguments.addAll(List.of(String.valueOf(tls.certificate()), String.valueOf(tls.key())));
            }
            return sites.opened(MirrorJvm.of(own, TakeOverMain.class, arguments));
        }

        private static String url(FaultProxy link) {
            return (TLS ? "https" : "http") + "://127.0.0.1:" + link.port();
        }

        /** A move is disturbed, and made again. */
        void fault(Random random, String shown) throws Exception {
            int before = sites.primary();
            Fault fault = KINDS.get(random.nextInt(KINDS.size()));
            String step = STEPS.get(random.nextInt(STEPS.size()));
            boolean undo = random.nextInt(3) == 0;
            String all = "%s: %s at %s, then %s".formatted(shown, fault, step, undo ? "undo" : "again");
            LOG.info("{}", all);
            try {
                String[] names =
                        before == 0 ? new String[] {"switchover", "failback"} : new String[] {"failback", "switchover"};
                MirrorJvm command = process(names[0], 0);
                command.start();
                await().atMost(Mirrors.PATIENCE)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> command.printed().contains(step) || !command.isAlive());
                PatientCalls.pause(Duration.ofMillis(random.nextInt(LATEST_MILLIS)));
                disturb(fault, command, names, Duration.ofMillis(random.nextInt(LONGEST_FAULT_MILLIS)));
                await().atMost(Mirrors.PATIENCE.multipliedBy(2)).until(() -> !command.isAlive());
                LOG.info("{}", command.printed());
                command.close();
                sites.expireLocks();
                if (undo) {
                    undone(before == 1);
                }
                moved(before == 1);
                awaitSynced();
                writers.await(20);
                writers.verify();
            } catch (Throwable e) {
                // With its stack, which reports leave out.
                LOG.error(all, e);
                LOG.error("log of the mirror: {}", mirror.logged());
                throw new AssertionError(all + ": " + e.getMessage(), e);
            }
        }

        private void disturb(Fault fault, MirrorJvm command, String[] names, Duration time) throws Exception {
            switch (fault) {
                case KILL_COMMAND -> {
                    if (command.isAlive()) {
                        command.kill();
                    }
                }
                case PAUSE_COMMAND -> {
                    if (command.isAlive()) {
                        command.pause();
                        // About as long as its lock lives.
                        PatientCalls.pause(time.plus(Lock.TTL));
                        if (time.toMillis() % 3 > 0) {
                            beside((time.toMillis() % 3 == 1 ? "undo-" : "") + names[0]);
                        }
                        command.resume();
                    }
                }
                case TWO_COMMANDS -> beside(names[0]);
                case COMMAND_AND_UNDO -> beside("undo-" + names[0]);
                case COMMAND_AND_REVERSE -> beside(names[1]);
                case PAUSE_SOURCE -> pause(sites.source.members().get(0), time);
                case PAUSE_TARGET -> pause(sites.target.members().get(0), time);
                case SLOW_DISK_OF_SOURCE -> slowDown(sites.source.members().get(0), time);
                case SLOW_DISK_OF_TARGET -> slowDown(sites.target.members().get(0), time);
                case PAUSE_MIRROR -> {
                    mirror.pause();
                    PatientCalls.pause(time);
                    mirror.resume();
                }
                case KILL_MIRROR -> {
                    mirror.kill();
                    mirror.start();
                }
                case COMMAND_FROM_SOURCE, COMMAND_FROM_TARGET, MIRROR_FROM_SOURCE, MIRROR_FROM_TARGET -> {
                    FaultProxy link = links.get(LINKS.indexOf(fault));
                    if (time.toMillis() % 2 == 0) {
                        link.cut();
                    } else {
                        link.blackHole();
                    }
                    PatientCalls.pause(time.multipliedBy(2));
                    link.heal();
                }
            }
        }

        private void beside(String name) throws Exception {
            try (MirrorJvm other = process(name, 0)) {
                other.start();
                await().atMost(Mirrors.PATIENCE.multipliedBy(2)).until(() -> !other.isAlive());
                LOG.info("beside: {} {}", name, other.printed());
            }
        }

        private void pause(EtcdMember member, Duration time) {
            member.pause();
            PatientCalls.pause(time);
            member.resume();
        }

        private void slowDown(EtcdMember member, Duration time) {
            SlowDisk disk = SlowDisk.of(member.process().pid().orElseThrow(), SLOW);
            PatientCalls.pause(time.multipliedBy(2));
            disk.close();
        }

        private void undone(boolean back) {
            try (TakeOver commands = sites.commands()) {
                TakeOverOptions options = TwoSites.OPTIONS.with(way);
                LOG.info(
                        "{}",
                        (back ? commands.failback(options, step -> {}) : commands.switchover(options, step -> {}))
                                .undo());
            } catch (TakeOverException e) {
                assertThat(e.getMessage()).containsAnyOf("nothing to undo", "has moved to");
            }
        }

        /** The role is there in the end. */
        private void moved(boolean back) {
            TakeOverOptions options = TwoSites.OPTIONS.with(way);
            await().atMost(Mirrors.PATIENCE).ignoreException(NotYet.class).until(() -> {
                try (TakeOver commands = sites.commands()) {
                    TakeOverReport report = (back
                                    ? commands.failback(options, step -> {})
                                    : commands.switchover(options, step -> {}))
                            .run();
                    // While a command is cut off longer than the TTL of locks, they expire, and are named.
                    assertThat(report.isWithoutLoss() || Writers.areLocks(report.lost()))
                            .as(report.toString())
                            .isTrue();
                } catch (TakeOverException e) {
                    if (!String.valueOf(e.getMessage()).contains("is the primary of mirror dr already")) {
                        LOG.info("{}", e.getMessage());
                        throw new NotYet(e);
                    }
                }
                return sites.primary() == (back ? 0 : 1);
            });
        }

        /** The first copy, which takes a commit per lease. */
        private void awaitCopied() {
            await().atMost(Mirrors.PATIENCE.multipliedBy(10)).until(() -> {
                var reached = sites.records(1).read().checkpoint();
                return reached != null && reached.state() == CheckpointState.SYNCED;
            });
        }

        /** The other side has all of the primary. */
        void awaitSynced() {
            int primary = sites.primary();
            long head = sites.records(primary).read().revision();
            await().atMost(Mirrors.PATIENCE).until(() -> {
                var reached = sites.records(1 - primary).read().checkpoint();
                return reached != null
                        && reached.state() == CheckpointState.SYNCED
                        && reached.source().equals(sites.records(primary).read().cluster())
                        && reached.revision().value() >= head;
            });
        }

        /** The source is lost, comes back, is written to, and becomes a copy. */
        void failover() throws Exception {
            EtcdMember lost = sites.source.members().get(0);
            lost.pause();
            TakeOverReport report;
            try (TakeOver commands = sites.commands()) {
                report = commands.failover(false, TwoSites.OPTIONS.forced(), step -> {})
                        .run();
            }
            long reached = Long.parseLong(report.facts().get("data up to").replaceAll("^revision (\\d+) .*", "$1"));
            writers.await(20);
            lost.resume();
            writers.await(20);
            // The mirror may be closing the source at that moment, and refuses commands meanwhile.
            TakeOverReport rejoined = await().atMost(Mirrors.PATIENCE)
                    .ignoreExceptionsMatching(
                            e -> String.valueOf(e.getMessage()).startsWith("another command is moving"))
                    .until(this::rejoined, ended -> true);
            long closed = sites.records(0).read().revision();
            LOG.info("reached={} closed={} rejoined={}", reached, closed, rejoined);
            writers.lost(0, reached, closed);
            assertThat(rejoined.lost()).containsAll(writers.lostKeys(0, reached, closed));
            awaitSynced();
            writers.verify();
            moved(true);
            awaitSynced();
            writers.await(20);
            writers.verify();
        }

        private TakeOverReport rejoined() {
            try (TakeOver commands = sites.commands()) {
                return commands.rejoin(TwoSites.OPTIONS.with(way), step -> {}).run();
            }
        }

        void end() {
            writers.close();
            awaitSynced();
            writers.verifyAt(sites.primary());
            sites.assertEqual();
        }

        @Override
        public void close() {
            sites.close();
        }
    }

    /** A command is refused for now. */
    private static final class NotYet extends RuntimeException {
        NotYet(Throwable cause) {
            super(cause);
        }
    }
}
