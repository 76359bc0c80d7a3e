package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.scope.MirrorScope;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What was in the target, revision by revision: only states that the source had, in its order, however many commits were
 * joined.
 *
 * <p>Tests invariant M3.
 */
final class TargetHistoryIT {

    private static final int WRITERS = 16;
    private static final int COMMITS = 60;
    private static final int KEYS = 6;

    private static final ByteString FROM = ByteString.copyFromUtf8("/h/");
    private static final ByteString TO = ByteString.copyFromUtf8("/h0");

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    @Test
    void readersOfTheTargetSeeOnlyStatesThatTheSourceHad_inOrder() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        try (MirrorProcess mirror = start(TargetHistory.COALESCED)) {
            awaitCaughtUp(mirror, source);
            long sourceFrom = revision(source);
            long targetFrom = revision(target);
            MirrorReport before = mirror.reports().get(0);
            writeAtOnce(seed);
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).as("seed %d", seed).isEqualTo(source.contents());

            List<Object> sourceStates = states(source, sourceFrom);
            List<Object> targetStates = states(target, targetFrom);
            int found = -1;
            for (Object state : targetStates) {
                int next = found + 1;
                while (next < sourceStates.size() && !sourceStates.get(next).equals(state)) {
                    next++;
                }
                assertThat(next)
                        .as("seed %d: %s, after state %d of the source", seed, state, found)
                        .isLessThan(sourceStates.size());
                found = next;
            }
            MirrorReport after = mirror.reports().get(0);
            assertThat(after.transactions() - before.transactions())
                    .as("commits were joined")
                    .isLessThan(WRITERS * COMMITS / 2);
            assertThat(targetStates.size()).isLessThan(sourceStates.size());
        }
    }

    @Test
    void everyCommitHistoryWritesOneRevisionPerCommit() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        try (MirrorProcess mirror = start(TargetHistory.EVERY_COMMIT)) {
            awaitCaughtUp(mirror, source);
            long sourceFrom = revision(source);
            long targetFrom = revision(target);
            writeAtOnce(seed);
            awaitCaughtUp(mirror, source);
            assertThat(states(target, targetFrom)).as("seed %d", seed).isEqualTo(states(source, sourceFrom));
        }
    }

    /** Each commit changes several keys, to values that occur once, so that no two states are equal. */
    private void writeAtOnce(long seed) {
        CompletableFuture<?>[] writers = IntStream.range(0, WRITERS)
                .mapToObj(writer -> CompletableFuture.runAsync(() -> {
                    Random random = new Random(seed + writer);
                    for (int commit = 0; commit < COMMITS; commit++) {
                        write(writer + "/" + commit, random);
                    }
                }))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(writers).join();
    }

    private void write(String value, Random random) {
        TxnRequest.Builder transaction = TxnRequest.newBuilder();
        random.ints(0, KEYS)
                .distinct()
                .limit(random.nextInt(1, KEYS))
                .forEach(key -> transaction.addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder()
                                .setKey(ByteString.copyFromUtf8("/h/" + key))
                                .setValue(ByteString.copyFromUtf8(value)))));
        var unused = source.kv().txn(transaction.build());
    }

    /** What the keys were after each revision at which they changed; all of the history is still there. */
    private static List<Object> states(TestClient client, long after) {
        List<Object> states = new ArrayList<>();
        long head = revision(client);
        Object last = null;
        for (long revision = after + 1; revision <= head; revision++) {
            Object state = state(client, revision);
            if (!state.equals(last)) {
                states.add(state);
                last = state;
            }
        }
        return states;
    }

    private static Object state(TestClient client, long revision) {
        TreeMap<String, String> state = new TreeMap<>();
        client.kv()
                .range(RangeRequest.newBuilder()
                        .setKey(FROM)
                        .setRangeEnd(TO)
                        .setRevision(revision)
                        .setSerializable(true)
                        .build())
                .getKvsList()
                .forEach(kv ->
                        state.put(kv.getKey().toStringUtf8(), kv.getValue().toStringUtf8()));
        return state;
    }

    private static long revision(TestClient client) {
        return client.get(FROM).getHeader().getRevision();
    }

    private static MirrorProcess start(TargetHistory history) {
        return CLUSTERS.mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS.with(history));
    }
}
