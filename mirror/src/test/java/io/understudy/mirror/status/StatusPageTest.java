package io.understudy.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class StatusPageTest {

    @Test
    void aProcessThatHasNotStartedItsMirrorsIsAliveButNotReady() {
        assertThat(StatusPage.notReady(List.of())).containsExactly("the mirrors are being started");
        assertThat(StatusPage.failed(List.of())).isEmpty();
    }
}
