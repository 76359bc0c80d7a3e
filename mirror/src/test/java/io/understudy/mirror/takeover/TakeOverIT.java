package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.home.Move.Way;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The primary role moves there and back while clients write at both sides, on real clusters.
 *
 * <p>Tests invariants M37, M40.
 */
@Timeout(300)
final class TakeOverIT {

    private static final TakeOverOptions OPTIONS = TwoSites.OPTIONS;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void movesThereAndBackWhileClientsWrite_andLosesNothing(Way way) {
        try (TwoSites sites = new TwoSites(folder, way == Way.ROLES)) {
            MirrorProcess mirror = sites.startMirror();
            TwoSites.awaitSynced(mirror, sites.source);
            // A target that was never closed is written once it is the primary.
            Writers writers = sites.opened(new Writers(sites, 2, false));
            writers.await(100);
            try (TakeOver clusters = sites.commands()) {
                TakeOverReport there = clusters.switchover(OPTIONS.with(way), step -> {
                            if (step.equals("open")) {
                                writers.mayMove();
                            }
                        })
                        .run();
                assertThat(there.loss()).as(there.toString()).isEqualTo(TakeOverReport.NONE);
                assertThat(there.next()).as(there.toString()).hasSize(2);
                writers.await(100);
                TwoSites.awaitSynced(mirror, sites.target);
                assertThatThrownBy(() -> clusters.switchover(OPTIONS.with(way), step -> {})
                                .run())
                        .hasMessageContaining("is the primary of mirror dr already");
            }
            try (TakeOver clusters = sites.commands()) {
                TakeOverReport back =
                        clusters.failback(OPTIONS.with(way), step -> {}).run();
                assertThat(back.loss()).as(back.toString()).isEqualTo(TakeOverReport.NONE);
                writers.await(100);
                TwoSites.awaitSynced(mirror, sites.source);
            }
            writers.close();
            writers.verifyAt(0);
            sites.assertEqual();
        }
    }

    @Test
    void aFormerPrimaryThatComesBackIsNamedAndRejoins() {
        try (TwoSites sites = new TwoSites(folder, false)) {
            rejoins(sites);
        }
    }

    private static void rejoins(TwoSites sites) {
        Calls atSource = sites.client(sites.source);
        put(atSource, "/app/before", "1");
        MirrorProcess mirror = sites.startMirror();
        TwoSites.awaitSynced(mirror, sites.source);
        try (TakeOver clusters = sites.commands()) {
            assertThatThrownBy(() -> clusters.failover(OPTIONS, step -> {}).run())
                    .hasMessageContaining("responds: a switchover loses nothing");
            sites.source.leader().pause();
            TakeOverReport report =
                    clusters.failover(OPTIONS.forced(), step -> {}).run();
            assertThat(report.loss()).startsWith("possible: all writes after revision ");
        }
        sites.source.members().get(0).resume();
        put(atSource, "/app/late", "1");
        put(sites.client(sites.target), "/app/after", "1");
        await().atMost(Mirrors.PATIENCE)
                .untilAsserted(() -> assertThat(mirror.reports().get(0).reason())
                        .contains("both clusters hold the primary role", "understudy mirror rejoin"));
        try (TakeOver clusters = sites.commands()) {
            TakeOverReport rejoined =
                    clusters.rejoin(OPTIONS.with(Way.AUTH_ENABLE), step -> {}).rejoin();
            assertThat(rejoined.lost()).containsExactly("\"/app/late\"");
            assertThatThrownBy(() -> put(atSource, "/app/refused", "1")).isInstanceOf(TakeOverException.class);
            TwoSites.awaitSynced(mirror, sites.target);
            assertThat(sites.contents(0)).isEqualTo(sites.contents(1)).containsKey("/app/after");
            assertThat(clusters.release(false)).contains("is open");
            put(atSource, "/app/released", "1");
        }
    }

    @Test
    void whatPassesAnOpenSourceIsNamed() {
        try (TwoSites sites = new TwoSites(folder, false)) {
            passes(sites);
        }
    }

    private static void passes(TwoSites sites) {
        MirrorProcess mirror = sites.startMirror();
        TwoSites.awaitSynced(mirror, sites.source);
        Calls atSource = sites.client(sites.source);
        try (TakeOver clusters = sites.commands()) {
            TakeOverReport report = clusters.switchover(OPTIONS.with(Way.NONE), step -> {
                        if (step.equals("open")) {
                            put(atSource, "/app/late", "1");
                        }
                    })
                    .run();
            assertThat(report.lost()).containsExactly("\"/app/late\"");
            assertThat(report.loss()).isEqualTo("1 keys");
        }
    }

    private static void put(Calls calls, String key, String value) {
        var unused = calls.txn(
                "a put",
                TxnRequest.newBuilder()
                        .addSuccess(RequestOp.newBuilder()
                                .setRequestPut(PutRequest.newBuilder()
                                        .setKey(ByteString.copyFromUtf8(key))
                                        .setValue(ByteString.copyFromUtf8(value))))
                        .build());
    }
}
