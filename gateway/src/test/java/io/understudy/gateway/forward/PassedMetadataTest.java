package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import org.junit.jupiter.api.Test;

final class PassedMetadataTest {

    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    @Test
    void metadataOfTheRequestIsForwarded() {
        Metadata received = new Metadata();
        for (String name : new String[] {"token", "authorization", "hasleader", "client-api-version", "unheard-of"}) {
            received.put(text(name), "one");
            received.put(text(name), "two");
        }
        received.put(DETAILS, new byte[] {1, 2});
        Metadata passed = PassedMetadata.of(received);
        assertThat(passed.keys()).isEqualTo(received.keys());
        assertThat(passed.getAll(text("token"))).containsExactly("one", "two");
        assertThat(passed.get(DETAILS)).containsExactly(1, 2);
    }

    @Test
    void metadataOfTheConnectionOrGatewayIsNotForwarded() {
        Metadata received = new Metadata();
        for (String name : new String[] {
            "content-type", "te", "grpc-timeout", "grpc-encoding", "user-agent", "understudy-min-revision"
        }) {
            received.put(text(name), "x");
        }
        assertThat(PassedMetadata.of(received).keys()).isEmpty();
    }

    @Test
    void textThatAHeaderCannotCarryIsNotForwarded() {
        Metadata received = new Metadata();
        for (String value : new String[] {"a\tb", "a\u007f", "good"}) {
            received.put(text("token"), value);
        }
        assertThat(PassedMetadata.of(received).getAll(text("token"))).containsExactly("good");
        Caller caller = new Caller(
                new Principal.Token("a\tb"),
                new Session(),
                Freshness.ANY,
                Caller.NO_DEADLINE,
                () -> false,
                Runnable::run);
        assertThat(PassedMetadata.of(caller).keys()).isEmpty();
    }

    private static Metadata.Key<String> text(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }
}
