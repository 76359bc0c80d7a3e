package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests invariant FK6. */
class TopicScopeTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "+; ''; ''; true",
                "+; a; b; true",
                "+/in/; /in/; /in0; true",
                "+/in/; /in/a; /in/b; true",
                "+/in/; /in/; /in1; false",
                "+/in/; /i; /in0; false",
                "+/in/; ''; ''; false",
                "+/in/; /in/; ''; false",
                "+/in/; /out/; /out0; false",
                "+/in/,-/in/not/; /in/; /in0; false",
                "+/in/,-/in/not/; /in/a; /in/b; true",
                "+,-/not/; ''; ''; false",
                "+,-/not/; /o; /p; true",
                // Ranges that adjoin.
                "+a,+b; a; c; true",
                "+a,+c; a; d; false",
                "+%ff; %ff; ''; true"
            })
    void coversARangeOfWhichEachKeyIsIncludedAndNoneExcluded(String scope, String from, String to, boolean covers) {
        KeyRange range = new KeyRange(key(from), to.isEmpty() ? null : key(to));
        assertThat(TopicScope.parse(scope).covers(range)).isEqualTo(covers);
    }

    private static ByteString key(String text) {
        return text.equals("%ff") ? ByteString.copyFrom(new byte[] {(byte) 0xff}) : ByteString.copyFromUtf8(text);
    }
}
