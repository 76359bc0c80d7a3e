package io.understudy.mirror.revisions;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * For every revision of the source: a watcher of the target from the translated revision on, which begins with the
 * source's state at that revision, ends with the target's state. For each key it receives the puts and deletions that a
 * watcher of the source receives, several puts in a row as one.
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
    void aResumedWatchReceivesEveryLaterChange() throws Exception {
        steps(10);
        long snapshot = revision();
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
            for (int i = 0; i < 3; i++) {
                source.put("/w/brief", "comes and goes while nothing can be written");
                remember();
                source.delete("/w/brief");
                remember();
            }
            source.put("/w/brief", "stays");
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
        assertListedAgain(new Revision(states.firstKey()), new Revision(snapshot));
        assertThat(map.translate(new Revision(revision() + 10))).isInstanceOf(NotYet.class);
        moveHome();
        assertThat(map.translate(new Revision(revision() + 10)))
                .as("what the target never had is not waited for once it has taken over")
                .isInstanceOfSatisfying(
                        ListAgain.class, again -> assertThat(again.why()).endsWith("later changes, if any, are lost"));
    }

    @Test
    void writesToATargetThatIsPrimaryRequireAnotherList() throws Exception {
        try (MirrorProcess mirror = mirror(EtcdSinkOptions.DEFAULTS)) {
            steps(20);
            awaitCaughtUp(mirror, source);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> map.translate(new Revision(revision())) instanceof ResumeAt);
        }
        long moved = revision();
        Revision before = clustersNow();
        Checkpoint checkpoint = history().now().checkpoint();
        ByteString record = target.get(ReservedKeys.home("dr")).getKvs(0).getValue();
        moveHome();
        target.put("/w/by-a-client", "of the target");
        // As a switchover leaves it: the checkpoint of the other direction, beside the record that moved.
        Position back = new Position(checkpoint.source(), new Revision(moved + 5), null);
        var unused = target.kv()
                .txn(TxnRequest.newBuilder()
                        .addSuccess(put(ReservedKeys.home("dr"), record))
                        .addSuccess(
                                put(ReservedKeys.checkpoint("dr"), CheckpointCodec.encode(checkpoint.syncedAt(back))))
                        .build());
        assertThat(map.translate(new Revision(moved)))
                .isInstanceOfSatisfying(ResumeAt.class, at -> assertThat(at.start())
                        .isLessThanOrEqualTo(before.next().next()));
        assertThat(map.translate(new Revision(moved + 2)))
                .isInstanceOfSatisfying(
                        ListAgain.class, again -> assertThat(again.resumable()).isEqualTo(back.revision()));
        assertThat(map.translate(back.revision())).isInstanceOf(ResumeAt.class);
    }

    private static RequestOp put(ByteString key, ByteString value) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(key).setValue(value))
                .build();
    }

    private CheckpointHistory history() {
        return new CheckpointHistory("dr", clusters.target());
    }

    /** The answer names the first revision that resumes. */
    private void assertListedAgain(Revision seen, Revision resumable) throws Exception {
        Translation answer = map.translate(seen);
        assertThat(answer).as("seen " + seen).isInstanceOfSatisfying(ListAgain.class, again -> {
            assertThat(again.why()).endsWith(". Revisions from " + resumable + " resume");
            assertThat(again.resumable()).isEqualTo(resumable);
        });
        assertThat(map.translate(new Revision(resumable.value() - 1))).isEqualTo(answer);
        assertThat(map.translate(resumable)).isInstanceOf(ResumeAt.class);
    }

    private void moveHome() {
        ByteString key = ReservedKeys.home("dr");
        Home home = Home.decode("here", target.get(key).getKvs(0).getValue());
        target.put(
                key.toStringUtf8(),
                home.movedTo(home.target(), home.moves() + 1, Instant.now()).encode());
    }

    @Test
    void revisionsSkippedByASynchronisationRequireAnotherList() throws Exception {
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
        for (long seen : new long[] {before - 1, before, compacted - 1}) {
            assertListedAgain(new Revision(seen), new Revision(compacted));
        }
        verifyAll();
    }

    @Test
    void compactedRevisionsRequireAnotherList() throws Exception {
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
    void withoutACheckpointTheAnswerIsNotYet() throws Exception {
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

    /** Compares every revision with a place to resume with the events of a watch from there. */
    private void verifyAll() throws Exception {
        SortedMap<ByteString, ByteString> end = mirrored(target.contents());
        assertThat(end).isEqualTo(mirrored(source.contents()));
        int resumed = 0;
        SortedMap<ByteString, ByteString> state = new TreeMap<>(KeyRange.KEY_ORDER);
        for (long seen = states.firstKey(); seen <= states.lastKey(); seen++) {
            state = states.getOrDefault(seen, state);
            long seenThen = seen;
            if (map.translate(new Revision(seen)) instanceof ResumeAt at) {
                resumed++;
                SortedMap<ByteString, ByteString> known = new TreeMap<>(mirrored(state));
                List<Event> events =
                        target.watch(at.start().value(), clustersNow().value());
                Map<ByteString, String> received = courses(events);
                courses(source.watch(seen + 1, revision())).forEach((key, course) -> assertThat(
                                received.getOrDefault(key, ""))
                        .as("events of %s, seen %d, resumed at %s, seed %d", key.toStringUtf8(), seenThen, at, seed)
                        .endsWith(course));
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

    /** Puts and deletions of each mirrored key in order, several puts in a row as one. */
    private static Map<ByteString, String> courses(List<Event> events) {
        Map<ByteString, String> courses = new HashMap<>();
        for (Event event : events) {
            String one = event.getType() == Event.EventType.PUT ? "P" : "D";
            if (SCOPE.contains(event.getKv().getKey())) {
                courses.merge(
                        event.getKv().getKey(),
                        one,
                        (before, next) -> before.endsWith("P") && next.equals("P") ? before : before + next);
            }
        }
        return courses;
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
