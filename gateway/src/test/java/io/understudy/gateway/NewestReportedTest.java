package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.ClusterView;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests invariant G4. */
final class NewestReportedTest {

    private final ClusterView view = new ClusterView(null, List.of(), null, List.of(), List.of(), List.of(), null);
    private final NewestReported newest = new NewestReported(() -> view);

    @Test
    void includesWhatClientsWereAnswered() {
        assertThat(newest.answered(1005)).isTrue();
        assertThat(newest.answered(1003)).isTrue();
        assertThat(newest.revision()).isEqualTo(1005);
    }

    @Test
    void afterItsEndNoAnswerIsNewer() {
        assertThat(newest.answered(1005)).isTrue();
        assertThat(newest.end(1003)).isEqualTo(1005);
        assertThat(newest.answered(1005)).isTrue();
        assertThat(newest.answered(1006)).isFalse();
        assertThat(newest.answered(1006)).isFalse();
        assertThat(newest.revision()).isEqualTo(1005);
    }

    @Test
    void anAnswerUpToTheEndMarkerIsPassedOn() {
        assertThat(newest.answered(1005)).isTrue();
        assertThat(newest.end(1010)).isEqualTo(1010);
        assertThat(newest.answered(1010)).isTrue();
        assertThat(newest.answered(1011)).isFalse();
    }
}
