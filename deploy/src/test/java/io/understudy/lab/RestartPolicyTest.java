package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.lab.ChildWatch.RestartPolicy;
import io.understudy.lab.ChildWatch.RestartPolicy.Verdict;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant DP6. */
final class RestartPolicyTest {

    private static final int SIGKILLED = 137;
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private final RestartPolicy policy = new RestartPolicy();

    @ParameterizedTest
    @CsvSource({
        "137, was killed by SIGKILL",
        "143, was killed by SIGTERM",
        "163, was killed by signal 35",
        "0, was stopped"
    })
    void aChildKilledFromOutsideStartsAgain(int status, String how) {
        assertThat(policy.judge("mirror", status, NOW)).isEqualTo(new Verdict.Restart(how));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 127})
    void aChildThatFailsEndsTheLab(int status) {
        assertThat(policy.judge("mirror", status, NOW))
                .isEqualTo(new Verdict.Fatal("failed with exit status " + status));
    }

    @ParameterizedTest
    @CsvSource({"134, SIGABRT", "139, SIGSEGV"})
    void aCrashIsNoKillFromOutside(int status, String signal) {
        assertThat(policy.judge("mirror", status, NOW)).isEqualTo(new Verdict.Fatal("crashed with " + signal));
    }

    @Test
    void theThirdDeathWithinAMinuteEndsTheLab() {
        assertThat(policy.judge("mirror", SIGKILLED, NOW)).isInstanceOf(Verdict.Restart.class);
        assertThat(policy.judge("mirror", SIGKILLED, NOW.plusSeconds(30))).isInstanceOf(Verdict.Restart.class);
        assertThat(policy.judge("mirror", SIGKILLED, NOW.plusSeconds(60))).isInstanceOf(Verdict.Fatal.class);
    }

    @Test
    void deathsFurtherApartAreForgiven() {
        for (int minute = 0; minute < 10; minute++) {
            assertThat(policy.judge("mirror", SIGKILLED, NOW.plusSeconds(31L * minute)))
                    .isInstanceOf(Verdict.Restart.class);
        }
    }

    @Test
    void eachChildHasItsOwnCount() {
        policy.judge("mirror", SIGKILLED, NOW);
        policy.judge("mirror", SIGKILLED, NOW);

        assertThat(policy.judge("core-1", SIGKILLED, NOW)).isInstanceOf(Verdict.Restart.class);
    }
}
