package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import org.junit.jupiter.api.Test;

/** Failures are described for the operator of a cluster. */
final class EtcdFailureTest {

    @Test
    void anExceededDeadlineIsReportedWithoutInternalsOfGrpc() {
        assertThat(shown("CallOptions deadline exceeded after 0.257933418s. Name resolution delay 0.0 seconds."
                        + " [closed=[], open=[[buffered_nanos=260281459, waiting_for_connection]]]"))
                .isEqualTo("DEADLINE_EXCEEDED: no connection before the deadline");
        assertThat(shown("CallOptions deadline exceeded after 0.749s. Name resolution delay 0.0 seconds."
                        + " [closed=[], open=[[remote_addr=localhost/127.0.0.1:2379]]]"))
                .isEqualTo("DEADLINE_EXCEEDED: no response before the deadline");
    }

    @Test
    void otherDescriptionsAreKept() {
        assertThat(shown("no answer within 5000 ms")).isEqualTo("DEADLINE_EXCEEDED: no answer within 5000 ms");
        assertThat(shown("etcdserver: request timed out"))
                .isEqualTo("DEADLINE_EXCEEDED: etcdserver: request timed out");
    }

    private static String shown(String description) {
        return EtcdErrors.classify(Duty.WRITE, Status.DEADLINE_EXCEEDED.withDescription(description))
                .toString();
    }
}
