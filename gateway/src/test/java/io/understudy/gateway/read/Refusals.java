package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;

/** Asserts on the failure of a read. */
final class Refusals {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private Refusals() {}

    static void assertRefused(CompletableFuture<?> read, Status.Code code, String text) {
        assertRefusedMatching(read, code, Pattern.quote(text));
    }

    /** @param text a regular expression */
    static void assertRefusedMatching(CompletableFuture<?> read, Status.Code code, String text) {
        assertThat(read)
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(ApiException.class, refusal -> {
                    assertThat(refusal.code()).isEqualTo(code);
                    assertThat(refusal.text()).matches(text);
                });
    }
}
