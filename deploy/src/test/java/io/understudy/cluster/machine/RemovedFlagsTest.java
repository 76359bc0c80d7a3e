package io.understudy.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.EtcdVersion;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RemovedFlagsTest {

    private static final List<String> ARGUMENTS = List.of(
            "--enable-v2=true",
            "--quota-backend-bytes=1",
            "--experimental-initial-corrupt-check=true",
            "--experimental-watch-progress-notify-interval=5s");

    @Test
    void allAreNamedWithTheirSuccessors() {
        assertThat(RemovedFlags.in(ARGUMENTS, EtcdVersion.parse("3.5.33"))).isEmpty();
        assertThat(RemovedFlags.in(ARGUMENTS, EtcdVersion.parse("3.6.16")))
                .containsExactly("--enable-v2 (no successor)");
        assertThat(RemovedFlags.in(ARGUMENTS, EtcdVersion.parse("3.7.3")))
                .containsExactly(
                        "--enable-v2 (no successor)",
                        "--experimental-initial-corrupt-check (use --feature-gates=InitialCorruptCheck=true)",
                        "--experimental-watch-progress-notify-interval (use --watch-progress-notify-interval)");
    }

    @ParameterizedTest
    @CsvSource({
        "--v2-deprecation=not-yet,3.6.16,--v2-deprecation=not-yet (no successor)",
        "--v2-deprecation=not-yet,3.5.33,",
        "--v2-deprecation=write-only,3.6.16,",
        "--discovery-fallback=proxy,3.6.16,--discovery-fallback=proxy (no successor)",
        "--discovery-fallback=exit,3.6.16,",
        "'--feature-gates=CompactHashCheck=true, FastLeaseKeepAlive=false',3.6.16,"
                + "--feature-gates=FastLeaseKeepAlive (since 3.7)",
        "--feature-gates=PriorityRequest=true,3.6.16,--feature-gates=PriorityRequest (since 3.7)",
        "--feature-gates=PriorityRequest=true,3.7.3,"
    })
    void valuesThatAVersionRejectsAreNamed(String argument, String version, @Nullable String named) {
        assertThat(RemovedFlags.in(List.of(argument), EtcdVersion.parse(version)))
                .isEqualTo(Stream.ofNullable(named).toList());
    }

    @Test
    void flagsOf36AreMissingAfterADowngradeTo35() {
        List<String> arguments = List.of("--feature-gates=X=true", "--max-learners=2", "--quota-backend-bytes=1");

        assertThat(RemovedFlags.in(arguments, EtcdVersion.parse("3.5.33")))
                .containsExactly("--feature-gates (since 3.6)");
        assertThat(RemovedFlags.in(arguments, EtcdVersion.parse("3.6.16"))).isEmpty();
    }
}
