package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.gateway.primary.PrimaryRecord;
import io.understudy.gateway.primary.PrimaryRecord.Phase;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A gateway reads the records that a mirror writes. */
final class PrimaryRecordTest {

    private static final ClusterId HERE = new ClusterId(0xcdf8_1819_4e3a_8c32L);

    private final Home home =
            new Home("dr", HERE, HERE, new ClusterId(2), MirrorScope.prefix("/app/"), 3, Instant.EPOCH);

    @Test
    void theKeyIsTheMirrors() {
        assertThat(PrimaryRecord.key("dr")).isEqualTo(ReservedKeys.home("dr"));
        assertThat(PrimaryRecord.isReserved(ReservedKeys.checkpoint("dr"))).isTrue();
        assertThat(PrimaryRecord.isReserved(ByteString.copyFromUtf8("/app/a"))).isFalse();
    }

    @Test
    void readsEachPhase() {
        assertThat(read(home)).isEqualTo(new PrimaryRecord(HERE, 3, Phase.STEADY, 0, false));
        Closed closed = new Closed(Way.ROLES, 0, List.of());
        assertThat(read(home.with(move(Move.Phase.CLOSING, "switchover", closed))))
                .isEqualTo(new PrimaryRecord(HERE, 3, Phase.CLOSING, 42, true));
        assertThat(read(home.with(move(Move.Phase.MOVED, "switchover", null))))
                .isEqualTo(new PrimaryRecord(HERE, 3, Phase.MOVED, 42, false));
    }

    @Test
    void aFailoverHasNoCertainEnd() {
        assertThat(read(home.with(move(Move.Phase.MOVED, "failover", null))).endMarker())
                .isZero();
    }

    @Test
    void refusesAnythingElse() {
        assertThatThrownBy(() -> PrimaryRecord.decode(ByteString.copyFromUtf8("{}")))
                .hasMessageContaining("invalid primary record");
    }

    private static Move move(Move.Phase phase, String kind, Closed closed) {
        return new Move(phase, new Operation("id", kind, "host", Instant.EPOCH), 40, 42, closed);
    }

    private static PrimaryRecord read(Home stored) {
        return PrimaryRecord.decode(stored.encode());
    }
}
