package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.bench.H2Load.H2LoadOutput;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests invariant DP18. */
final class H2LoadOutputTest {

    private static final int ANSWER_BYTES = 304;

    @Test
    void figuresAreReadFromWhatH2LoadPrints() {
        assertThat(H2LoadOutput.parse(printed("4.26s", 200_000, 200_000, 60_800_000)))
                .isEqualTo(new H2LoadOutput(Duration.ofMillis(4_260), 200_000, 200_000, 60_800_000));
    }

    @Test
    void shortRunsAreInMilliseconds() {
        assertThat(H2LoadOutput.parse(printed("998.12ms", 1, 1, 1)).elapsed()).isEqualTo(Duration.ofNanos(998_120_000));
    }

    @Test
    void aRunWithoutErrorsHasAllItsData() {
        assertThat(H2LoadOutput.parse(printed("1s", 10, 10, 10 * ANSWER_BYTES)).errors(ANSWER_BYTES))
                .isZero();
    }

    @Test
    void requestsWithoutAnAnswerAreErrors() {
        assertThat(H2LoadOutput.parse(printed("1s", 10, 8, 8 * ANSWER_BYTES)).errors(ANSWER_BYTES))
                .isEqualTo(2);
    }

    /** gRPC's errors have HTTP status 200 and no message. */
    @Test
    void answersWithoutDataAreErrors() {
        assertThat(H2LoadOutput.parse(printed("1s", 10, 10, 7 * ANSWER_BYTES)).errors(ANSWER_BYTES))
                .isEqualTo(3);
    }

    @Test
    void answersOfAnotherLengthAreErrors() {
        assertThat(H2LoadOutput.parse(printed("1s", 10, 10, 10 * ANSWER_BYTES + 1))
                        .errors(ANSWER_BYTES))
                .isPositive();
    }

    @Test
    void anythingElseIsRefused() {
        assertThatThrownBy(() -> H2LoadOutput.parse("h2load: unknown option"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("unknown option");
    }

    private static String printed(String elapsed, long total, long succeeded, long data) {
        return """
                starting benchmark...
                progress: 100%% done

                finished in %s, 46968.79 req/s, 15.09MB/s
                requests: %d total, %d started, %d done, %d succeeded, 0 failed, 0 errored, 0 timeout
                status codes: %d 2xx, 0 3xx, 0 4xx, 0 5xx
                traffic: 64.27MB (67391544) total, 390.72KB (400096) headers (space savings 94.74%%), 57.98MB (%d) data
                """.formatted(elapsed, total, total, total, succeeded, succeeded, data);
    }
}
