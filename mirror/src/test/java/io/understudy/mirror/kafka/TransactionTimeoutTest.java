package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class TransactionTimeoutTest {

    private static final Duration LARGEST = Duration.ofMinutes(15);

    private final TransactionTimeout timeout = new TransactionTimeout(Duration.ofMinutes(1));

    @Test
    void growsToTheLargestThatTheBrokerAccepts() {
        while (exceeded(100) instanceof SinkException.Unavailable) {
            open();
        }
        assertThat(timeout.current()).isEqualTo(LARGEST);
    }

    @Test
    void endsAtTheSecondExcessOfTheLargest_withSizeAndLimit() {
        reachLargest();
        assertThat(exceeded(100)).isInstanceOf(SinkException.Unavailable.class);
        open();
        timeout.committed(99);
        assertThat(exceeded(100))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("100 records and 2000 bytes")
                .hasMessageContaining(timeout.current().toMillis() + " ms, the largest")
                .hasMessageContaining("transaction.max.timeout.ms");
    }

    @Test
    void aCommittedTransactionOfTheSameSizeResetsTheCount() {
        reachLargest();
        assertThat(exceeded(100)).isInstanceOf(SinkException.Unavailable.class);
        open();
        timeout.committed(100);
        assertThat(exceeded(100)).isInstanceOf(SinkException.Unavailable.class);
    }

    @Test
    void theConfiguredOneIsNotReduced() {
        assertThat(timeout.rejected()).isFalse();
        assertThat(timeout.current()).isEqualTo(Duration.ofMinutes(1));
    }

    private void reachLargest() {
        for (Duration before = Duration.ZERO; !timeout.current().equals(before); open()) {
            before = timeout.current();
            exceeded(1);
        }
        timeout.committed(1);
    }

    private SinkException exceeded(long records) {
        return timeout.exceeded("writing", records, 20 * records, new IllegalStateException("aborted"));
    }

    /** As a broker with the default limit accepts it. */
    private void open() {
        while (timeout.current().compareTo(LARGEST) > 0) {
            assertThat(timeout.rejected()).isTrue();
        }
        timeout.accepted();
    }
}
