package io.understudy.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.understudy.gateway.rest.KeyReads.Cursor;
import org.junit.jupiter.api.Test;

final class CursorTest {

    private static final ByteString PREFIX = ByteString.copyFromUtf8("p".repeat(3_000));

    @Test
    void decodingReturnsTheEncodedCursor() throws ProblemDetails {
        Cursor cursor = new Cursor(-2, 7, 1L << 40, PREFIX, PREFIX.concat(ByteString.copyFromUtf8("from")));
        assertThat(Cursor.decode(cursor.encode())).isEqualTo(cursor);
    }

    @Test
    void aLongPrefixIsEncodedOnce() {
        assertThat(new Cursor(-2, 7, 9, PREFIX, PREFIX).encode()).hasSizeLessThan(PREFIX.size() * 3 / 2);
    }

    @Test
    void anInvalidCursorIsRejected() {
        assertThatExceptionOfType(ProblemDetails.class).isThrownBy(() -> Cursor.decode("AQ"));
    }
}
