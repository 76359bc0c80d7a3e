package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.gateway.primary.PrimaryRecord;
import io.understudy.gateway.primary.PrimaryRecord.Phase;
import io.understudy.gateway.primary.PrimaryRecord.Scope;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A gateway reads the records that a mirror writes. */
final class PrimaryRecordTest {

    private static final ClusterId HERE = new ClusterId(0xcdf8_1819_4e3a_8c32L);

    private static final Scope APP = new Scope(List.of(text("/app/")), List.of(), false);

    private final Home home = home(MirrorScope.prefix("/app/"));

    @Test
    void theKeyIsTheMirrors() {
        assertThat(PrimaryRecord.key("dr")).isEqualTo(ReservedKeys.home("dr"));
        assertThat(PrimaryRecord.isReserved(ReservedKeys.checkpoint("dr"))).isTrue();
        assertThat(PrimaryRecord.isReserved(ByteString.copyFromUtf8("/app/a"))).isFalse();
    }

    @Test
    void readsEachPhase() {
        assertThat(read(home)).isEqualTo(new PrimaryRecord(HERE, 3, Phase.STEADY, 0, false, APP));
        Closed closed = new Closed(Way.ROLES, 0, List.of());
        assertThat(read(home.with(move(Move.Phase.CLOSING, "switchover", closed))))
                .isEqualTo(new PrimaryRecord(HERE, 3, Phase.CLOSING, 42, true, APP));
        assertThat(read(home.with(move(Move.Phase.MOVED, "switchover", null))))
                .isEqualTo(new PrimaryRecord(HERE, 3, Phase.MOVED, 42, false, APP));
    }

    @Test
    void theScopeCoversRangesThatAreEqualInBothClusters() {
        Scope all = read(home(MirrorScope.all())).scope();
        assertThat(all).isEqualTo(Scope.ALL);
        assertThat(all.covers(KeyRange.all())).isTrue();

        Scope some = read(home(new MirrorScope(
                        List.of(text("/app/"), text("/job/")), List.of(text("/app/tmp/")), text("/"), text("/"))))
                .scope();
        assertThat(some.covers(KeyRange.all())).isFalse();
        assertThat(some.covers(KeyRange.prefix(text("/app/")))).isFalse();
        assertThat(some.covers(KeyRange.prefix(text("/app/a/")))).isTrue();
        assertThat(some.covers(KeyRange.prefix(text("/job/")))).isTrue();

        Scope renamed = read(home(new MirrorScope(List.of(text("/app/")), List.of(), text("/app/"), text("/copy/"))))
                .scope();
        assertThat(renamed.covers(KeyRange.prefix(text("/app/")))).isFalse();
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

    private static Home home(MirrorScope scope) {
        return new Home("dr", HERE, HERE, new ClusterId(2), scope, 3, Instant.EPOCH);
    }

    private static ByteString text(String key) {
        return ByteString.copyFromUtf8(key);
    }

    private static Move move(Move.Phase phase, String kind, Closed closed) {
        return new Move(phase, new Operation("id", kind, "host", Instant.EPOCH), 40, 42, closed);
    }

    private static PrimaryRecord read(Home stored) {
        return PrimaryRecord.decode(stored.encode());
    }
}
