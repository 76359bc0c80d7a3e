package io.understudy.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class BoundedBodyTest {

    private final AtomicBoolean cancelled = new AtomicBoolean();
    private final BoundedBody body = new BoundedBody(6);

    @Test
    void aBodyUpToTheLimitIsReceived() {
        receive("abc", "def");
        body.onComplete();
        assertThat(body.getBody().toCompletableFuture().join()).isEqualTo("abcdef".getBytes(UTF_8));
        assertThat(cancelled).isFalse();
    }

    @Test
    void aLargerBodyFailsAndIsCancelled() {
        receive("abc", "defg");
        assertThatThrownBy(body.getBody().toCompletableFuture()::join)
                .hasMessageContaining("response is larger than 6 bytes");
        assertThat(cancelled).isTrue();
    }

    private void receive(String... parts) {
        body.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long more) {}

            @Override
            public void cancel() {
                cancelled.set(true);
            }
        });
        for (String part : parts) {
            body.onNext(List.of(ByteBuffer.wrap(part.getBytes(UTF_8))));
        }
    }
}
