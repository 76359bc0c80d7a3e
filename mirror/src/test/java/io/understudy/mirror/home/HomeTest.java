package io.understudy.mirror.home;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A home comes back as it was stored, and nothing else is taken for one. */
final class HomeTest {

    private static final ClusterId SOURCE = new ClusterId(0xa);
    private static final ClusterId TARGET = new ClusterId(0xb);

    private static final Home HOME =
            new Home("dr", SOURCE, SOURCE, TARGET, MirrorScope.all(), 0, Instant.parse("2026-01-31T12:00:00.123Z"));

    @Test
    void isReadableAndDecodesToTheSame() {
        assertThat(HOME.encode().toStringUtf8())
                .isEqualTo("{\"format\":1,\"mirror\":\"dr\",\"home\":\"a\",\"source\":\"a\",\"target\":\"b\","
                        + "\"scope\":{\"include\":[],\"exclude\":[],\"from\":\"\",\"to\":\"\"},\"moves\":0,"
                        + "\"at\":\"2026-01-31T12:00:00.123Z\"}");
        assertThat(Home.decode("here", HOME.encode())).isEqualTo(HOME);
    }

    /** A record of an earlier release has no move; one with a move comes back with all of it. */
    @Test
    void holdsHowItsClusterIsClosed() {
        assertThat(Home.decode("here", HOME.encode()).move()).isEqualTo(Move.NONE);
        ByteString key = ByteString.copyFromUtf8("/a");
        Move move = new Move(
                Move.Phase.CLOSING,
                new Move.Operation("id", "switchover", "host a, pid 1", Instant.EPOCH),
                7,
                9,
                new Move.Closed(
                        Move.Way.ROLES, 0xabc, List.of(new Move.Grant("app", key, ByteString.EMPTY, "READWRITE"))),
                Move.Way.AUTH_ENABLE);
        Home closed = HOME.with(move);
        assertThat(Home.decode("here", closed.encode())).isEqualTo(closed);
        Home planned = HOME.with(move.former(null));
        assertThat(Home.decode("here", planned.encode())).isEqualTo(planned);
        assertThat(closed.agreesWith(HOME)).as("about the primary").isTrue();
    }

    @Test
    void countsItsMoves() {
        Home moved = HOME.movedTo(TARGET, 1, Instant.EPOCH);
        assertThat(moved.cluster()).isEqualTo(TARGET);
        assertThat(moved.moves()).isEqualTo(1);
        assertThat(moved.agreesWith(HOME)).isFalse();
        assertThat(Home.decode("here", moved.encode())).isEqualTo(moved);
    }

    @Test
    void agreesWithTheSameRecordOfAnotherTime() {
        Home later = new Home("dr", SOURCE, SOURCE, TARGET, MirrorScope.all(), 0, Instant.EPOCH);
        assertThat(HOME.agreesWith(later)).isTrue();
    }

    @Test
    void keepsOutOtherMirrorsExceptAPrimaryReturningToTheCopiedCluster() {
        List<KeyRange> all = MirrorScope.all().sourceRanges();
        Home copy = new Home("copy", SOURCE, SOURCE, new ClusterId(0xc), MirrorScope.prefix("/k/"), 0, Instant.EPOCH);
        Instant later = Instant.EPOCH.plusSeconds(1);
        Home away = HOME.movedTo(TARGET, 1, later);
        Home reversed = new Home("dr", TARGET, TARGET, SOURCE, MirrorScope.all(), 1, later);
        assertThat(copy.keepsOut(SOURCE, all, away, true)).isFalse();
        assertThat(copy.keepsOut(SOURCE, all, reversed, true)).isFalse();

        assertThat(copy.keepsOut(SOURCE, all, null, true)).isTrue();
        assertThat(copy.keepsOut(SOURCE, all, HOME.movedTo(TARGET, 1, Instant.EPOCH), true))
                .as("begun since: somebody may write there of his own")
                .isTrue();
        assertThat(copy.keepsOut(SOURCE, all, HOME, true)).as("not moved").isTrue();
        assertThat(copy.keepsOut(SOURCE, MirrorScope.prefix("/l/").sourceRanges(), null, true))
                .as("other keys")
                .isFalse();
        assertThat(copy.keepsOut(TARGET, all, null, true)).as("elsewhere").isFalse();
        Home opposite = new Home("opposite", SOURCE, SOURCE, TARGET, MirrorScope.all(), 0, Instant.EPOCH);
        assertThat(opposite.keepsOut(SOURCE, all, away, true)).as("in circles").isTrue();
        Home moved = new Home("in", SOURCE, new ClusterId(0xc), SOURCE, MirrorScope.all(), 1, Instant.EPOCH);
        assertThat(moved.keepsOut(SOURCE, all, away, true)).as("written there").isTrue();
    }

    @Test
    void keepsOutNoRecordedUpstreamMirrorOfTheCopiedKeys() {
        MirrorScope part = MirrorScope.prefix("/k/");
        ClusterId third = new ClusterId(0xc);
        Home bringing = new Home("dr", SOURCE, SOURCE, TARGET, part, 0, Instant.EPOCH);
        Home copiedOn = new Home("on", TARGET, TARGET, third, MirrorScope.all(), 0, Instant.EPOCH);
        assertThat(copiedOn.keepsOut(TARGET, part.targetRanges(), bringing, true))
                .isFalse();
        assertThat(copiedOn.keepsOut(
                        TARGET,
                        part.targetRanges(),
                        bringing.movedTo(TARGET, 1, Instant.EPOCH).movedTo(SOURCE, 2, Instant.MAX),
                        true))
                .as("it has come back")
                .isFalse();

        assertThat(copiedOn.keepsOut(TARGET, part.targetRanges(), null, true))
                .as("begins since")
                .isTrue();
        assertThat(copiedOn.keepsOut(TARGET, part.targetRanges(), bringing, false))
                .as("known at its source only")
                .isTrue();
        assertThat(copiedOn.keepsOut(TARGET, MirrorScope.all().targetRanges(), bringing, true))
                .as("more keys")
                .isTrue();
        Home opposite = new Home("back", TARGET, TARGET, SOURCE, MirrorScope.all(), 0, Instant.EPOCH);
        assertThat(opposite.keepsOut(TARGET, part.targetRanges(), bringing, true))
                .as("in circles")
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "{\"format\":2}", "{\"format\":1,\"home\":\"a\"}", "home"})
    void malformedRecordsAreRejectedWithTheirKey(String stored) {
        assertThatThrownBy(() -> Home.decode("key \"k\"", ByteString.copyFromUtf8(stored)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("primary record at key \"k\"")
                .hasMessageContaining(stored);
    }
}
