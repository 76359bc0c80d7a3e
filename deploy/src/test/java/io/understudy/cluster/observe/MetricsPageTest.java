package io.understudy.cluster.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class MetricsPageTest {

    private static final MetricsPage PAGE = new MetricsPage("""
            # HELP etcd_network_active_peers The current number of active peer connections.
            # TYPE etcd_network_active_peers gauge
            etcd_network_active_peers{Local="a1",Remote="b2"} 2
            etcd_network_active_peers{Local="a1",Remote="c3"} 0
            etcd_network_active_peers{Local="d4",Remote="e5"} 1
            etcd_network_active_peers_others{Local="a1",Remote="f6"} 1
            # TYPE process_start_time_seconds gauge
            process_start_time_seconds 1.76390000012e+09
            """);

    @Test
    void peersAreThoseWithConnectionsOfTheMemberItself() {
        assertThat(PAGE.peers(new MemberId(0xa1))).containsExactly(new MemberId(0xb2));
    }

    @Test
    void theStartIsTold() {
        assertThat(PAGE.startedAt()).contains(Instant.ofEpochMilli(1_763_900_000_120L));
    }

    @Test
    void aPageWithoutEitherTellsNothing() {
        assertThat(MetricsPage.NONE.peers(new MemberId(1))).isEmpty();
        assertThat(MetricsPage.NONE.startedAt()).isEmpty();
        assertThat(new MetricsPage("process_start_time_seconds soon").startedAt())
                .isEmpty();
    }

    @Test
    void theLastLineNeedsNoEnd() {
        assertThat(new MetricsPage("process_start_time_seconds 5").startedAt()).contains(Instant.ofEpochSecond(5));
    }
}
