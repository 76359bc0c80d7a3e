package io.understudy.mirror.revisions;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Event;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Clusters;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Workload;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.revisions.Translation.ListAgain;
import io.understudy.mirror.revisions.Translation.NotYet;
import io.understudy.mirror.revisions.Translation.ResumeAt;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * For every revision of the source: who knows the source as it was then, and applies what a watch of the target gives from
 * the translated revision on, knows the target.
 *
 * <p>Tests invariant M34.
 */
final class RevisionMapIT {

    private static final MirrorScope SCOPE = MirrorScope.prefix("/w/");

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    /** What the source held at each of its revisions. */
    private final SortedMap<Long, SortedMap<ByteString, ByteString>> states = new TreeMap<>();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private final Clusters clusters = CLUSTERS.connections();
    private Workload workload;
    private RevisionMap map;

    @BeforeEach
    void beginEmpty() {
        System.out.println("seed " + seed);
        workload = new Workload(source, seed);
        map = new RevisionMap(new CheckpointHistory("dr", clusters.target()));
    }

    @Test
    void resumingGivesEveryChangeAfterWhatWasSeen_throughBatchesTornCommitsProgressAndRestarts() throws Exception {
        steps(10);
        // Small enough to tear a commit of several values.
        EtcdSinkOptions options = EtcdSinkOptions.DEFAULTS
                .withLimits(EtcdSinkOptions.LEAST_REQUEST_BYTES, 128)
                .withProgressInterval(Duration.ofMillis(200));
        long began;
        try (MirrorProcess mirror = mirror(options)) {
            awaitCaughtUp(mirror, source);
            began = revision();
            steps(30);
            awaitCaughtUp(mirror, source);
            CLUSTERS.target().leader().pause();
            steps(20);
            source.put("/w/brief", "comes and goes while nothing can be written");
            remember();
            source.delete("/w/brief");
            remember();
            steps(20);
            CLUSTERS.target().members().get(0).resume();
            awaitCaughtUp(mirror, source);
            source.put("/elsewhere", "not mirrored");
            remember();
        }
        target.put("/foreign", "between two of the mirror's own");
        try (MirrorProcess mirror = mirror(options)) {
            awaitCaughtUp(mirror, source);
            for (int i = 0; i < 3; i++) {
                source.kv().txn(workload.large(40, 1_000));
                remember();
                steps(5);
            }
            awaitCaughtUp(mirror, source);
        }
        for (long seen = began; seen < revision(); seen++) {
            assertThat(map.translate(new Revision(seen))).as("seen " + seen).isInstanceOf(ResumeAt.class);
        }
        verifyAll();
        assertThat(map.translate(new Revision(states.firstKey())))
                .as("of what was gone before the mirror began, the target tells nothing")
                .isInstanceOfSatisfying(ListAgain.class, again -> assertThat(again.why())
                        .startsWith("the mirror started at revision ")
                        .isNotEqualTo("the mirror started at revision 0, after revision " + states.firstKey())
                        .endsWith(", after revision " + states.firstKey()));
        assertThat(map.translate(new Revision(revision() + 10))).isInstanceOf(NotYet.class);
        moveHome();
        assertThat(map.translate(new Revision(revision() + 10)))
                .as("what the target never had is not waited for once it has taken over")
                .isInstanceOfSatisfying(
                        ListAgain.class, again -> assertThat(again.why()).endsWith("later changes, if any, are lost"));
    }

    private void moveHome() {
        ByteString key = ReservedKeys.home("dr");
        Home home = Home.decode("here", target.get(key).getKvs(0).getValue());
        target.put(
                key.toStringUtf8(), home.movedTo(home.target(), Instant.now()).encode());
    }

    @Test
    void whatASynchronisationSkippedIsListedAgain() throws Exception {
        try (MirrorProcess mirror = mirror(EtcdSinkOptions.DEFAULTS.withMaxPrunePercent(100))) {
            steps(20);
            awaitCaughtUp(mirror, source);
            // What the mirror begins at next is what is stored, which may be behind while nothing mirrored changes.
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> map.translate(new Revision(revision())) instanceof ResumeAt);
        }
        long before = revision();
        steps(30);
        long compacted = revision();
        var unused = source.kv()
                .compact(CompactionRequest.newBuilder().setRevision(compacted).build());
        try (MirrorProcess mirror = mirror(EtcdSinkOptions.DEFAULTS.withMaxPrunePercent(100))) {
            awaitCaughtUp(mirror, source);
            steps(20);
            awaitCaughtUp(mirror, source);
        }
        assertThat(map.translate(new Revision(before))).isInstanceOf(ResumeAt.class);
        assertThat(map.translate(new Revision(compacted - 1)))
                .isInstanceOfSatisfying(ListAgain.class, again -> assertThat(again.why())
                        .startsWith("the mirror was resynced from revision "));
        assertThat(map.translate(new Revision(compacted + 1))).isInstanceOf(ResumeAt.class);
        verifyAll();
    }

    @Test
    void whatTheTargetHasCompactedIsListedAgain() throws Exception {
        try (MirrorProcess mirror = mirror(EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
            steps(60);
            awaitCaughtUp(mirror, source);
        }
        long middle = states.firstKey() + 30;
        ResumeAt at = (ResumeAt) map.translate(new Revision(middle));
        var unused = target.kv()
                .compact(CompactionRequest.newBuilder()
                        .setRevision(at.start().value())
                        .build());
        assertThat(map.oldest(clustersNow())).isEqualTo(at.start());
        assertThat(map.translate(new Revision(middle)))
                .isInstanceOfSatisfying(
                        ListAgain.class, again -> assertThat(again.oldest()).isEqualTo(at.start()));
        assertThat(map.translate(new Revision(revision() - 1))).isInstanceOf(ResumeAt.class);
        verifyAll();
    }

    @Test
    void withoutACheckpointThereIsNothingYet() throws Exception {
        assertThat(map.translate(new Revision(7))).isInstanceOf(NotYet.class);
    }

    @Test
    void theHistoryOfAnEarlierMirrorIsIgnored() throws Exception {
        ByteString key = ReservedKeys.checkpoint("dr");
        Checkpoint earlier = Checkpoint.first(new ClusterId(7), SCOPE, "earlier", Instant.now())
                .syncedAt(new Position(new ClusterId(7), new Revision(1_000_000), null));
        for (int i = 0; i < 100; i++) {
            target.put(key.toStringUtf8(), CheckpointCodec.encode(earlier));
        }
        target.deleteAll();
        try (MirrorProcess mirror = mirror(EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
            steps(20);
            awaitCaughtUp(mirror, source);
        }
        assertThat(map.translate(new Revision(revision() - 1))).isInstanceOf(ResumeAt.class);
        verifyAll();
    }

    /** Every revision that the map gives a place to resume at, against what a watch from there tells. */
    private void verifyAll() throws Exception {
        SortedMap<ByteString, ByteString> end = mirrored(target.contents());
        assertThat(end).isEqualTo(mirrored(source.contents()));
        int resumed = 0;
        SortedMap<ByteString, ByteString> state = new TreeMap<>(KeyRange.KEY_ORDER);
        for (long seen = states.firstKey(); seen <= states.lastKey(); seen++) {
            state = states.getOrDefault(seen, state);
            if (map.translate(new Revision(seen)) instanceof ResumeAt at) {
                resumed++;
                SortedMap<ByteString, ByteString> known = new TreeMap<>(mirrored(state));
                List<Event> events =
                        target.watch(at.start().value(), clustersNow().value());
                for (Event event : events) {
                    ByteString key = event.getKv().getKey();
                    if (event.getType() == Event.EventType.PUT) {
                        known.put(key, event.getKv().getValue());
                    } else {
                        known.remove(key);
                    }
                }
                known = mirrored(known);
                assertThat(known)
                        .as("seen %d, resumed at %s, seed %d", seen, at, seed)
                        .isEqualTo(end);
            }
        }
        assertThat(resumed).isPositive();
    }

    private Revision clustersNow() {
        return new Revision(
                target.get(ByteString.copyFromUtf8("any")).getHeader().getRevision());
    }

    private static SortedMap<ByteString, ByteString> mirrored(Map<ByteString, ByteString> contents) {
        SortedMap<ByteString, ByteString> mirrored = new TreeMap<>(KeyRange.KEY_ORDER);
        contents.forEach((key, value) -> {
            if (SCOPE.contains(key)) {
                mirrored.put(key, value);
            }
        });
        return mirrored;
    }

    private void steps(int count) {
        for (int i = 0; i < count; i++) {
            workload.step();
            remember();
        }
    }

    private void remember() {
        states.put(revision(), source.contents());
    }

    private long revision() {
        return source.get(ByteString.copyFromUtf8("any")).getHeader().getRevision();
    }

    private static MirrorProcess mirror(EtcdSinkOptions options) {
        return CLUSTERS.mirror(SCOPE, options);
    }
}
