package io.understudy.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.health.HealthPages;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StatusPageTest {

    @Test
    void aProcessThatHasNotStartedItsMirrorsIsAliveButNotReady() {
        HealthPages health = StatusPage.health(List.of());
        assertThat(health.ready().problem()).hasValue("process: mirrors are starting");
        assertThat(health.live().problem()).isEmpty();
    }
}
