package io.understudy.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.understudy.gateway.rest.Query.Percent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PercentTest {

    @Test
    void anyByteCanBeWritten() throws Exception {
        assertThat(Percent.decode("a%2f%FF%00\u00c3\u00a9", false))
                .isEqualTo(ByteString.copyFrom(new byte[] {'a', '/', -1, 0, (byte) 0xc3, (byte) 0xa9}));
    }

    @Test
    void aPlusIsASpaceInQueriesOnly() throws Exception {
        assertThat(Percent.decode("a+b%2B", true).toStringUtf8()).isEqualTo("a b+");
        assertThat(Percent.decode("a+b", false).toStringUtf8()).isEqualTo("a+b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"%", "a%2", "%zz", "%%%"})
    void incompleteEncodingsAreRejected(String text) {
        assertThatExceptionOfType(ProblemDetails.class)
                .isThrownBy(() -> Percent.decode(text, false))
                .withMessageContaining(text);
    }
}
