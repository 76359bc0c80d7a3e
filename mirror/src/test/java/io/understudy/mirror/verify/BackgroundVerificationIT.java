package io.understudy.mirror.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeResponse;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.mirror.etcd.EtcdSink;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.KeyObservation;
import io.understudy.mirror.fixture.Clusters;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.VerifyOptions.ForeignWrites;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Repairs between commits that the test places itself. */
final class BackgroundVerificationIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private static final String KEY = "/t/key";
    private static final MirrorScope SCOPE = MirrorScope.prefix("/t/");

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private final Clusters clusters = CLUSTERS.connections();

    private EtcdSink sink;
    private ClusterId sourceId;

    @BeforeEach
    void mirrorOneKey() {
        source.put(KEY, "v");
        RangeResponse found = source.get(bytes(KEY));
        sourceId = new ClusterId(found.getHeader().getClusterId());
        Revision at = new Revision(found.getHeader().getRevision());
        sink = new EtcdSink("t", SCOPE, "test", clusters.target(), EtcdSinkOptions.DEFAULTS, new Silent());
        assertThat(sink.open()).isNull();
        sink.snapshotStarted(sourceId, at);
        sink.snapshotPage(KeyRange.prefix(bytes("/t/")), List.of(entry(KEY, "v", at)));
        sink.snapshotCompleted(new Position(sourceId, at, null));
    }

    @AfterEach
    void close() {
        sink.close();
    }

    @Test
    void restoresADeletedKeyDespiteACommitBeforeEachRepair() throws Exception {
        target.delete(KEY);
        BackgroundVerification verification = verification(() -> commitPut("/t/busy", "v"));
        verification.step();
        assertThat(target.contents()).isEqualTo(source.contents());
        assertThat(verification.status().repaired()).isEqualTo(1);
    }

    @Test
    void doesNotRestoreAKeyDeletedBeforeTheRepair() throws Exception {
        long before = target.delete(KEY);
        verification(this::commitDelete).step();
        assertThat(target.contents()).isEqualTo(source.contents());
        assertThat(target.watch(before + 1, target.revision()))
                .extracting(event -> event.getKv().getKey())
                .doesNotContain(bytes(KEY));
    }

    @Test
    void comparesSuspectsBetweenTwoPasses() throws Exception {
        BackgroundVerification verification = verification(() -> {});
        verification.step();
        target.put(KEY, "foreign");
        int steps = 10;
        for (int i = 0; i < steps; i++) {
            verification.step();
        }
        assertThat(target.contents()).isEqualTo(source.contents());
        assertThat(verification.status().passes()).isBetween(1L, steps - 1L);
    }

    /** Neither does one look hold all of them. */
    @Test
    void repairsMoreThanOneRequestTakes() throws Exception {
        int keys = 10;
        for (int i = 0; i < keys; i++) {
            commitPut("/t/large" + i, "v".repeat(1 << 20));
            target.put("/t/large" + i, "foreign".repeat(1 << 17));
        }
        BackgroundVerification verification = verification(() -> {});
        verification.step();
        assertThat(verification.status().repaired()).isBetween(1L, keys - 1L);
        verification.step();
        assertThat(verification.status().repaired()).isEqualTo(keys);
        assertThat(target.contents().equals(source.contents()))
                .as("equal, of megabytes")
                .isTrue();
    }

    /** @param commits is run between each comparison and its repair */
    private BackgroundVerification verification(Runnable commits) {
        Repair repair = keys -> {
            KeyObservation observed = sink.observe(keys);
            return operations -> {
                commits.run();
                return sink.repair(observed, operations);
            };
        };
        Sides sides =
                new Sides("t", SCOPE, clusters.source(), clusters.target(), EtcdFeedOptions.DEFAULTS, false, false);
        return new BackgroundVerification(
                sides,
                new VerifyOptions(10_000, ForeignWrites.REPAIR),
                new ForeignRevisions(),
                repair,
                new SimpleMeterRegistry());
    }

    private void commitPut(String key, String value) {
        Revision at = new Revision(source.put(key, value));
        commit(new Commit(at, List.of(new Change.Put(entry(key, value, at)))));
    }

    private void commitDelete() {
        Revision at = new Revision(source.delete(KEY));
        commit(new Commit(at, List.of(new Change.Delete(bytes(KEY)))));
    }

    private void commit(Commit commit) {
        sink.commit(
                commit,
                new Position(
                        sourceId, commit.revision(), new Position.Anchor(commit.revision(), CommitDigest.of(commit))));
        sink.settle();
    }

    private static KeyValue entry(String key, String value, Revision at) {
        return new KeyValue(bytes(key), bytes(value), at, at, 1, 0);
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
