package io.understudy.gateway.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.replica.LoggedCommit;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Reads past commits and previous entries that the replica lacks from the source.
 *
 * <p>Tests invariant N3.
 */
@Timeout(120)
final class SourceHistoryIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private EtcdCluster cluster;
    private ManagedChannel direct;
    private SourceHistory history;
    private SourceEntries entries;

    @BeforeEach
    void connect() {
        URI voter = SOURCE.cluster().members().get(0).clientUrl();
        direct = ManagedChannelBuilder.forAddress(voter.getHost(), voter.getPort())
                .usePlaintext()
                .build();
        cluster = EtcdCluster.connect(
                EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(URI[]::new)), new SimpleMeterRegistry());
        history = new SourceHistory(
                new EtcdFeedSource("test", cluster, EtcdFeedOptions.DEFAULTS, new SimpleMeterRegistry()),
                KeyRange.all());
        entries = new SourceEntries(cluster, EtcdFeedOptions.DEFAULTS);
    }

    @AfterEach
    void disconnect() {
        entries.close();
        cluster.close();
        direct.shutdownNow();
    }

    @Test
    void pastCommitsIncludePreviousEntriesIfRequested() throws Exception {
        long before = put("a", "1");
        long after = put("a", "2");
        try (CommitHistory.Reading reading = history.open(after, true)) {
            LoggedCommit commit = next(reading);
            assertThat(commit.revision().value()).isEqualTo(after);
            assertThat(commit.previous().apply(key("a")).modRevision()).isEqualTo(before);
        }
        try (CommitHistory.Reading reading = history.open(after, false)) {
            assertThat(next(reading).previous()).isNull();
        }
    }

    @Test
    void previousEntriesOfACommitAreReadFromTheSource() throws Exception {
        put("b", "1");
        LoggedCommit commit = commitAt(put("b", "2"));
        CompletableFuture<Void> one = entries.learn(commit);
        CompletableFuture<Void> other = entries.learn(commit);
        one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        other.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(commit.previous().apply(key("b")).value()).isEqualTo(ByteString.copyFromUtf8("1"));
    }

    @Test
    void aCommitThatCreatedItsKeyLearnsOfNothing() throws Exception {
        LoggedCommit commit = commitAt(put("created", "1"));
        entries.learn(commit).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(commit.previous()).isNotNull();
        assertThat(commit.previous().apply(key("created"))).isNull();
    }

    @Test
    void previousEntriesOfALargeDeletionAreReadFromTheSource() throws Exception {
        for (int i = 0; i < 300; i++) {
            put(String.format("many/%03d", i), "value");
        }
        long deleted = KVGrpc.newBlockingStub(direct)
                .deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(key("many/"))
                        .setRangeEnd(key("many0"))
                        .build())
                .getHeader()
                .getRevision();
        LoggedCommit commit = commitAt(deleted);
        entries.learn(commit).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(commit.changes()).hasSize(300).allSatisfy(change -> assertThat(
                        commit.previous().apply(change.key()))
                .isNotNull());
    }

    @Test
    void compactedCommitsAreReportedWithTheCompactRevision() throws Exception {
        long first = put("c", "1");
        LoggedCommit commit = commitAt(put("c", "2"));
        long compacted = put("c", "3");
        assertThat(KVGrpc.newBlockingStub(direct)
                        .compact(CompactionRequest.newBuilder()
                                .setRevision(compacted)
                                .setPhysical(true)
                                .build())
                        .hasHeader())
                .isTrue();
        SOURCE.cluster().awaitApplied();
        try (CommitHistory.Reading reading = history.open(first, false)) {
            assertThatExceptionOfType(CommitHistory.CompactedException.class)
                    .isThrownBy(() -> next(reading))
                    .satisfies(gone -> assertThat(gone.compactRevision()).isEqualTo(compacted));
        }
        entries.learn(commit).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(commit.previous().apply(key("c"))).isNull();
    }

    @Test
    void previousValuesAndHistoryThatTheSourceRefusesFailWithItsCause() throws Exception {
        put("refused", "1");
        long refused = put("refused", "2");
        LoggedCommit commit = commitAt(refused);
        LocalEtcd source = SOURCE.cluster();
        source.etcdctl("user", "add", "root:root");
        source.etcdctl("user", "grant-role", "root", "root");
        source.etcdctl("auth", "enable");
        try {
            // A learner enables it later.
            await().atMost(PATIENCE).untilAsserted(() -> assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> entries.learn(commit).get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .withMessageContaining("user name is empty"));
            try (CommitHistory.Reading reading = history.open(refused, false)) {
                assertThatExceptionOfType(CommitHistory.CompactedException.class)
                        .isThrownBy(() -> next(reading))
                        .withMessageContaining("rejected the watch: ")
                        .satisfies(why -> assertThat(why.compactRevision()).isZero());
            }
        } finally {
            source.etcdctl("--user=root:root", "auth", "disable");
            source.etcdctl("user", "delete", "root");
        }
    }

    /** They are not counted as the replica's, so one deletion of a large store would exhaust the heap. */
    @Test
    void previousEntriesAboveTheLimitOfACommitAreNotHeld() throws Exception {
        put("held/1", "v".repeat(6_000));
        put("held/2", "v".repeat(6_000));
        LoggedCommit commit = commitAt(KVGrpc.newBlockingStub(direct)
                .deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(key("held/"))
                        .setRangeEnd(key("held0"))
                        .build())
                .getHeader()
                .getRevision());
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "maxCommitBytes", 10_000L);
        try (SourceEntries limited = new SourceEntries(cluster, options)) {
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> limited.learn(commit).get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .withMessageContaining("10000 bytes (feed.maxCommitBytes)");
        }
        assertThat(commit.previous()).isNull();
    }

    @Test
    void aCommitTooLargeEndsTheReadingBehindIt() throws Exception {
        put("large/1", "v".repeat(6_000));
        put("large/2", "v".repeat(6_000));
        long deleted = KVGrpc.newBlockingStub(direct)
                .deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(key("large/"))
                        .setRangeEnd(key("large0"))
                        .build())
                .getHeader()
                .getRevision();
        SourceHistory limited = new SourceHistory(
                new EtcdFeedSource(
                        "test",
                        cluster,
                        Binder.with(EtcdFeedOptions.DEFAULTS, "maxCommitBytes", 10_000L),
                        new SimpleMeterRegistry()),
                KeyRange.all());
        try (CommitHistory.Reading reading = limited.open(deleted, true)) {
            assertThatExceptionOfType(CommitHistory.CompactedException.class)
                    .isThrownBy(() -> next(reading))
                    .satisfies(gone -> {
                        assertThat(gone.compactRevision()).isEqualTo(deleted + 1);
                        assertThat(gone.isPreviousOnly()).isTrue();
                    });
        }
        try (CommitHistory.Reading reading = limited.open(deleted, false)) {
            assertThat(next(reading).changes()).hasSize(2);
        }
    }

    private LoggedCommit commitAt(long revision) throws Exception {
        try (CommitHistory.Reading reading = history.open(revision, false)) {
            return next(reading);
        }
    }

    private static LoggedCommit next(CommitHistory.Reading reading) throws Exception {
        CommitHistory.Step step = reading.next(PATIENCE);
        assertThat(step).isInstanceOf(CommitHistory.Step.Committed.class);
        return ((CommitHistory.Step.Committed) step).commit();
    }

    private long put(String key, String value) {
        return KVGrpc.newBlockingStub(direct)
                .put(PutRequest.newBuilder()
                        .setKey(key(key))
                        .setValue(ByteString.copyFromUtf8(value))
                        .build())
                .getHeader()
                .getRevision();
    }

    private static ByteString key(String key) {
        return ByteString.copyFromUtf8(key);
    }
}
