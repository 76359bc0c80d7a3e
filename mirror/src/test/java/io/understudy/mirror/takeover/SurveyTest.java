package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SurveyTest {

    @Test
    void keysAreShownAsTheyAre() {
        Survey survey = of(ByteString.copyFromUtf8("/pods/a"), ByteString.copyFrom(new byte[] {0, 1}));

        assertThat(survey.first()).containsExactly("\"/pods/a\"", "\"\\000\\001\"");
        assertThat(survey.lost()).hasValueSatisfying(told -> assertThat(told).endsWith("\"/pods/a\", \"\\000\\001\""));
    }

    @Test
    void ofALongKeyTheBeginningAndTheLengthAreShown() {
        String fits = "a".repeat(200);

        assertThat(of(ByteString.copyFromUtf8(fits)).first()).containsExactly("\"" + fits + "\"");
        assertThat(of(ByteString.copyFromUtf8(fits + "a")).first()).containsExactly("\"" + fits + "…\" of 201 bytes");
        assertThat(of(ByteString.copyFromUtf8("/" + "\0".repeat(100))).first())
                .containsExactly("\"/" + "\\000".repeat(49) + "…\" of 101 bytes");
    }

    @Test
    void whatIsToldOfTheLongestKeysFitsIntoAJournal() {
        ByteString longest = ByteString.copyFrom(new byte[1 << 20]);
        Survey survey = of(Collections.nCopies(1_000, longest).toArray(ByteString[]::new));

        assertThat(survey.keys()).isEqualTo(1_000);
        assertThat(survey.lost())
                .hasValueSatisfying(told -> assertThat(told.length()).isLessThan(3_000));
    }

    private static Survey of(ByteString... keys) {
        return Survey.of(0, "revision 7", keys.length, false, List.of(keys), null);
    }
}
