package io.understudy.mirror.home;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** It holds for one revision and one record of the home, and nothing else is taken for one. */
final class ComparedTest {

    private static final ClusterId SOURCE = new ClusterId(0xa);
    private static final ClusterId TARGET = new ClusterId(0xb);
    private static final Instant AT = Instant.parse("2026-01-31T12:00:00.123Z");
    private static final Home BACK = new Home("dr", SOURCE, SOURCE, TARGET, MirrorScope.all(), 2, AT);
    private static final Revision REVISION = new Revision(42);
    private static final Compared COMPARED = new Compared(REVISION, new Revision(17), BACK);

    @Test
    void isReadableAndComesBack() {
        assertThat(COMPARED.encode().toStringUtf8())
                .isEqualTo(
                        "{\"format\":1,\"revision\":42,\"targetRevision\":17,\"moves\":2,\"at\":\"2026-01-31T12:00:00.123Z\"}");
        assertThat(Compared.decode(COMPARED.encode())).contains(COMPARED);
    }

    @Test
    void holdsForThatRevisionAndThatMoveOnly() {
        assertThat(COMPARED.isAt(REVISION, BACK)).isTrue();
        assertThat(COMPARED.isAt(REVISION.next(), BACK)).isFalse();
        assertThat(COMPARED.isAt(REVISION, null)).isFalse();
        assertThat(COMPARED.isAt(REVISION, new Home("dr", SOURCE, SOURCE, TARGET, MirrorScope.all(), 0, AT)))
                .as("before it moved")
                .isFalse();
        assertThat(COMPARED.isAt(
                        REVISION, new Home("dr", SOURCE, SOURCE, TARGET, MirrorScope.all(), 2, AT.plusMillis(1))))
                .as("told again")
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "42",
                "{\"format\":2,\"revision\":42,\"targetRevision\":17,\"moves\":2,\"at\":\"2026-01-31T12:00:00.123Z\"}",
                "{\"format\":1,\"revision\":-1,\"targetRevision\":17,\"moves\":2,\"at\":\"2026-01-31T12:00:00.123Z\"}",
                "{\"format\":1,\"revision\":42,\"targetRevision\":17,\"moves\":2}"
            })
    void nothingElseIsTakenForOne(String stored) {
        assertThat(Compared.decode(ByteString.copyFromUtf8(stored))).isEmpty();
    }
}
