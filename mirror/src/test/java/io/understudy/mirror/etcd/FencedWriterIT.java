package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.etcd.FencedWriter.Fence;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The checkpoint's revisions fence writers.
 *
 * <p>Tests invariant M6.
 */
final class FencedWriterIT {

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    private EtcdCluster cluster;

    @BeforeEach
    void connect() {
        cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
    }

    @AfterEach
    void disconnect() {
        cluster.close();
    }

    /** A sink of the same process, closed a moment ago: its name is the next one's, and the target is in order. */
    @Test
    void aLateWriteOfTheSameProcessIsReadBeforeTheTakeOver() {
        FencedWriter before = writer("late");
        assertThat(before.read()).isNull();
        Checkpoint first =
                Checkpoint.first(new ClusterId(0xfeed), MirrorScope.prefix("/late/"), "process", Instant.EPOCH);
        before.beginEpoch(first);

        FencedWriter next = writer("late");
        Checkpoint taken = next.read().takenOverBy("process");
        before.write(List.of(), first.in(CheckpointState.SYNCING));
        assertThatThrownBy(() -> next.beginEpoch(taken)).isInstanceOf(SinkException.Fenced.class);

        next.beginEpoch(next.read().takenOverBy("process"));
        assertThat(next.current().state()).isEqualTo(CheckpointState.SYNCING);
        assertThatThrownBy(() -> before.write(List.of(), first)).isInstanceOf(SinkException.Fenced.class);
    }

    /** Tests invariant M7. */
    @Test
    void commitsBeforeATakeOverDoNotPreventItAndNoneFollows() {
        FencedWriter busy = writer("busy");
        assertThat(busy.read()).isNull();
        Checkpoint first = Checkpoint.first(new ClusterId(0xfeed), MirrorScope.prefix("/busy/"), "busy", Instant.EPOCH);
        busy.beginEpoch(first);

        FencedWriter next = writer("busy");
        Checkpoint seen = next.read();
        busy.write(List.of(), first.in(CheckpointState.TORN));
        assertThat(next.raiseEpoch(seen.takenOverBy("next"))).isTrue();
        assertThatThrownBy(() -> busy.write(List.of(), first))
                .isInstanceOf(SinkException.Fenced.class)
                .hasMessageContaining("next took over the mirror at epoch 2");

        Checkpoint last = next.read();
        assertThat(last.state())
                .as("the last commit before the take-over stays")
                .isEqualTo(CheckpointState.TORN);
        next.write(List.of(), last.takenOverBy("next"));
        assertThat(next.current().epoch()).isEqualTo(2);
    }

    /** A sink reads the primary after the checkpoint: what moves it later was not seen. */
    @Test
    void theEpochIsNotRaisedAfterAMoveOfThePrimary() {
        FencedWriter before = writer("moved");
        assertThat(before.read()).isNull();
        before.beginEpoch(
                Checkpoint.first(new ClusterId(0xfeed), MirrorScope.prefix("/moved/"), "before", Instant.EPOCH));

        FencedWriter next = writer("moved");
        Checkpoint seen = next.read();
        try (TestClient command = TestClient.of(TARGET.cluster().leader())) {
            command.put(ReservedKeys.epoch("moved").toStringUtf8(), "switchover");
        }
        assertThat(next.raiseEpoch(seen.takenOverBy("next"))).isFalse();
        assertThat(next.raiseEpoch(next.read().takenOverBy("next"))).isTrue();
    }

    /** The request may come during a write of an earlier revision. */
    @Test
    void aRequestedMoveOfTheCheckpointIsDueUntilItIsWritten() {
        EtcdSinkOptions seldom = Binder.with(EtcdSinkOptions.DEFAULTS, "progressInterval", Duration.ofDays(1));
        FencedWriter writer = new FencedWriter(new TargetCalls(cluster, new Silent()), "hurried", seldom, new Silent());
        assertThat(writer.read()).isNull();
        ClusterId source = new ClusterId(0xfeed);
        writer.beginEpoch(Checkpoint.first(source, MirrorScope.prefix("/hurried/"), "process", Instant.EPOCH));
        writer.hurry(new Revision(7));
        writer.write(List.of(), writer.current().syncedAt(new Position(source, new Revision(5), null)));
        assertThat(writer.isMoveDue(new Revision(7))).isTrue();
        writer.write(List.of(), writer.current().syncedAt(new Position(source, new Revision(7), null)));
        assertThat(writer.isMoveDue(new Revision(8))).isFalse();
    }

    /** A snapshot's lanes meet the raised epoch before the checkpoint of the next writer is there. */
    @Test
    void aLaneOfAReplacedWriterIsFenced() {
        FencedWriter before = writer("lane");
        assertThat(before.read()).isNull();
        before.beginEpoch(
                Checkpoint.first(new ClusterId(0xfeed), MirrorScope.prefix("/lane/"), "before", Instant.EPOCH));
        Fence fence = before.fence();

        FencedWriter next = writer("lane");
        assertThat(next.raiseEpoch(next.read().takenOverBy("next"))).isTrue();
        assertThat(fence.why().apply(new TargetCalls(cluster, new Silent())))
                .isInstanceOf(SinkException.Fenced.class)
                .hasMessageContaining("next took over the mirror at epoch 2");
    }

    private FencedWriter writer(String mirror) {
        return new FencedWriter(new TargetCalls(cluster, new Silent()), mirror, EtcdSinkOptions.DEFAULTS, new Silent());
    }
}
