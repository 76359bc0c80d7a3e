package io.understudy.mirror.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.LeaseTimeToLiveResponse;
import org.junit.jupiter.api.Test;

/** What etcd's answers about leases mean. */
final class LeaseFactsTest {

    @Test
    void anExpiredLeaseExistsUntilItIsRevoked() {
        assertThat(facts(-1, 30).exists()).isTrue();
        assertThat(facts(-2, 30).exists()).isTrue();
        assertThat(facts(0, 30).exists()).isTrue();
    }

    @Test
    void aLeaseThatWasNeverGrantedDoesNotExist() {
        assertThat(facts(-1, 0).exists()).isFalse();
    }

    private static LeaseCalls.Facts facts(long left, long granted) {
        return LeaseCalls.Facts.of(LeaseTimeToLiveResponse.newBuilder()
                .setTTL(left)
                .setGrantedTTL(granted)
                .build());
    }
}
