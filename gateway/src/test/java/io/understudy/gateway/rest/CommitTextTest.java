package io.understudy.gateway.rest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class CommitTextTest {

    @Test
    void aGapHasItsReason_unlessItIsACompaction() {
        assertThat(new CommitText(StreamForm.LINES).gap(8, 9, null).toString(UTF_8))
                .isEqualTo("{\"compact_revision\":8,\"revision\":9}\n");
        assertThat(new CommitText(StreamForm.EVENTS).gap(10, 9, "cannot read").toString(UTF_8))
                .isEqualTo("event: gap\ndata: {\"compact_revision\":10,\"revision\":9,\"reason\":\"cannot read\"}\n\n");
    }
}
