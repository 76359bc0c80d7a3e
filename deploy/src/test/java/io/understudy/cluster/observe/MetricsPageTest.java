package io.understudy.cluster.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class MetricsPageTest {

    private static final MetricsPage PAGE = new MetricsPage("""
            # HELP etcd_network_peer_received_bytes_total The total number of bytes received from peers.
            # TYPE etcd_network_peer_received_bytes_total counter
            etcd_network_peer_received_bytes_total{From="0"} 1722
            etcd_network_peer_received_bytes_total{From="b2"} 1.0405e+06
            etcd_network_peer_received_bytes_total_others{From="f6"} 1
            etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 3
            etcd_disk_wal_fsync_duration_seconds_sum 0.5
            etcd_disk_wal_fsync_duration_seconds_count 10
            # TYPE process_start_time_seconds gauge
            process_start_time_seconds 1.76390000012e+09
            """);

    @Test
    void receivedBytesAreReadBySender() {
        assertThat(PAGE.received()).isEqualTo(Map.of(new MemberId(0), 1722.0, new MemberId(0xb2), 1_040_500.0));
    }

    @Test
    void fsyncsAreCounted() {
        assertThat(PAGE.fsyncs()).contains(new MetricsPage.Fsyncs(10, 0.5));
    }

    @Test
    void theStartTimeIsRead() {
        assertThat(PAGE.startedAt()).contains(Instant.ofEpochMilli(1_763_900_000_120L));
    }

    @Test
    void aPageWithoutTheMetricsHasNoValues() {
        assertThat(MetricsPage.NONE.received()).isEmpty();
        assertThat(MetricsPage.NONE.startedAt()).isEmpty();
        assertThat(new MetricsPage("process_start_time_seconds soon").startedAt())
                .isEmpty();
    }

    @Test
    void theLastLineNeedsNoEnd() {
        assertThat(new MetricsPage("process_start_time_seconds 5").startedAt()).contains(Instant.ofEpochSecond(5));
    }
}
