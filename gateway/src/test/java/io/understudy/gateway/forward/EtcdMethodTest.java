package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.CompactionRequest;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Calls that may wait for any time. */
final class EtcdMethodTest {

    @Test
    void aPhysicalCompactionIsAnsweredOnceItHasEnded() {
        EtcdMethod compact = Objects.requireNonNull(EtcdMethod.named("etcdserverpb.KV/Compact"));
        CompactionRequest.Builder request = CompactionRequest.newBuilder().setRevision(7);
        assertThat(compact.isPatient(request.build().toByteArray())).isFalse();
        assertThat(compact.isPatient(request.setPhysical(true).build().toByteArray()))
                .isTrue();
        assertThat(compact.isPatient(new byte[] {1})).isFalse();
        assertThat(Objects.requireNonNull(EtcdMethod.named("v3lockpb.Lock/Lock"))
                        .isPatient(new byte[0]))
                .isTrue();
    }
}
