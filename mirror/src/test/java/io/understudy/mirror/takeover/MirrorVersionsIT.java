package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.CommandFailedException;
import io.understudy.mirror.MirrorInspector;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.auth.AuthMode;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.revisions.Translation;
import io.understudy.mirror.revisions.Translation.ResumeAt;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.Revision;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A mirror between clusters of two versions of etcd copies users, keys and leases, and moves there and back.
 *
 * <p>Tests invariants M9, M11, M12, M31, M34, M37, M40.
 */
@Tag("takeover")
@Timeout(900)
final class MirrorVersionsIT {

    /** Of the password of user {@code app}. */
    private static final String HASH = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.HQSCnGab6E32L0HxV4yCTTkel7tyRPK";

    private static final ByteString WATCHED = ByteString.copyFromUtf8("/app/watched");
    private static final ByteString LEASED = ByteString.copyFromUtf8("/app/leased");
    private static final ByteString BRIEF = ByteString.copyFromUtf8("/app/brief");

    /** Of a writer. */
    private static final ByteString WITH_A_LEASE = ByteString.copyFromUtf8("/app/0/LEASE");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"3.5,3.6", "3.5,3.7", "3.6,3.5", "3.6,3.7", "3.7,3.5", "3.7,3.6"})
    void movesThereAndBack(String ofSource, String ofTarget) throws Exception {
        try (TwoSites sites = new TwoSites(folder, EtcdBinaries.find(ofSource), EtcdBinaries.find(ofTarget))) {
            new Run(sites).verify();
        }
    }

    /** Clusters and clients of one test. */
    private final class Run {

        private final TwoSites sites;
        private final MirrorSettings.Mirror settings;
        private final MirrorProcess mirror;
        private final Writers writers;
        private final TakeOverCalls source;
        private final TakeOverCalls target;
        private final long lease;

        Run(TwoSites sites) throws Exception {
            this.sites = sites;
            // Copied from the source.
            TwoSites.asRoot(sites.target, "user", "delete", "app");
            TwoSites.asRoot(sites.target, "role", "delete", "app");
            for (LocalEtcd cluster : List.of(sites.source, sites.target)) {
                TwoSites.asRoot(cluster, "user", "grant-role", "mirror", "root");
            }
            settings = settings();
            mirror = sites.opened(Mirrors.start(settings));
            source = sites.client(sites.source).with(Mirrors.PATIENCE);
            lease = source.grantLease(Duration.ofHours(1));
            long put = put(source, LEASED, "1", lease);
            awaitCopied(put);
            await().atMost(Mirrors.PATIENCE)
                    .ignoreExceptionsInstanceOf(CommandFailedException.class)
                    .until(() -> sites.target
                            .etcdctl("--user=app:app", "get", LEASED.toStringUtf8())
                            .startsWith(LEASED.toStringUtf8()));
            target = sites.client(sites.target).with(Mirrors.PATIENCE);
            writers = sites.opened(new Writers(sites, 2, false));
        }

        private MirrorSettings.Mirror settings() throws Exception {
            Path passwords = Files.writeString(folder.resolve("passwords"), "app:" + HASH + "\n");
            MirrorSettings.Mirror plain = TwoSites.mirror(
                    sites.source.clientUrls().get(0), sites.target.clientUrls().get(0), null);
            return new MirrorSettings.Mirror(
                    plain.name(),
                    plain.source(),
                    plain.scope(),
                    ((MirrorSettings.Target.Etcd) plain.target())
                            .with(new AuthOptions(
                                    AuthMode.COPY, passwords, Duration.ofMillis(100), Duration.ofMillis(500))));
        }

        void verify() throws Exception {
            move(false);
            move(true);
            writers.close();
            mirrorIsDownWhileLeasesExpire();
            verifyEqual(settings);
            sites.assertEqual();
            writers.verifyAt(0);
        }

        /** A watcher of one key moves too. */
        private void move(boolean back) throws Exception {
            MirrorSettings.Mirror course = back ? settings.reversed().orElseThrow() : settings;
            TakeOverCalls from = back ? target : source;
            TakeOverCalls to = back ? source : target;
            awaitCopied(put(from, WATCHED, "earlier", 0));
            long seen = put(from, WATCHED, "seen", 0);
            awaitCopied(put(from, WATCHED, "next", 0));
            writers.await(100);
            verifyEqual(course);
            try (TakeOver commands = sites.commands()) {
                TakeOverOptions options = TwoSites.OPTIONS.with(Way.ROLES);
                TakeOver.Steps steps = step -> {
                    if (step.equals("open")) {
                        writers.mayMove();
                    }
                };
                TakeOverReport report =
                        (back ? commands.failback(options, steps) : commands.switchover(options, steps)).run();
                assertThat(report.isWithoutLoss()).as(report.toString()).isTrue();
            }
            writers.await(100);
            LocalEtcd primary = back ? sites.source : sites.target;
            TwoSites.awaitSynced(mirror, primary);
            writers.verify();
            verifyLease(primary);
            long last = put(to, WATCHED, "last", 0);
            Translation resumed = MirrorInspector.translate(course, new Revision(seen));
            assertThat(resumed).isInstanceOf(ResumeAt.class);
            assertThat(watched(primary, ((ResumeAt) resumed).start().value(), last))
                    .endsWith("next", "last")
                    .doesNotContain("earlier");
        }

        private List<String> watched(LocalEtcd cluster, long start, long end) throws Exception {
            try (EtcdCluster connection = EtcdCluster.connect(
                    Mirrors.settings(cluster).withLogin(TwoSites.MIRROR), new SimpleMeterRegistry())) {
                return TestClient.of(connection).watch(start, end).stream()
                        .filter(event -> event.getKv().getKey().equals(WATCHED))
                        .map(event -> event.getKv().getValue().toStringUtf8())
                        .toList();
            }
        }

        /** One at the source, and one only in the target, since nothing keeps it alive there. */
        private void mirrorIsDownWhileLeasesExpire() {
            awaitCopied(put(source, BRIEF, "1", source.grantLease(Duration.ofSeconds(5))));
            mirror.close();
            Optional<KeyValue> untouched = target.get(WITH_A_LEASE);
            sites.administrator(1).revokeLease(lease);
            await().atMost(Mirrors.PATIENCE).until(() -> source.get(BRIEF).isEmpty());
            assertThat(target.get(LEASED)).isEmpty();
            TwoSites.awaitSynced(sites.opened(Mirrors.start(settings)), sites.source);
            verifyLease(sites.target);
            assertThat(target.get(WITH_A_LEASE)).isPresent().isEqualTo(untouched);
        }

        private void verifyLease(LocalEtcd cluster) {
            assertThat(TwoSites.asRoot(cluster, "lease", "timetolive", Long.toHexString(lease), "--keys"))
                    .containsPattern("TTL\\(3600s\\), remaining\\([123]\\d{3}s\\), attached keys\\(\\[/app/leased]\\)");
        }

        private static void verifyEqual(MirrorSettings.Mirror mirror) throws Exception {
            VerifyResult result = MirrorInspector.verify(mirror, keys -> {});
            assertThat(result).isInstanceOf(VerifyReport.class);
            assertThat(((VerifyReport) result).isEqual()).as(result.toString()).isTrue();
        }

        private void awaitCopied(long revision) {
            await().atMost(Mirrors.PATIENCE)
                    .untilAsserted(() -> assertThat(mirror.reports().get(0).completeRevision())
                            .as(mirror.reports().toString())
                            .isGreaterThanOrEqualTo(revision));
        }

        private static long put(TakeOverCalls calls, ByteString key, String value, long lease) {
            TxnRequest put = TxnRequest.newBuilder()
                    .addSuccess(Records.put(key, ByteString.copyFromUtf8(value), lease))
                    .build();
            return calls.txn("a put", put).getHeader().getRevision();
        }
    }
}
