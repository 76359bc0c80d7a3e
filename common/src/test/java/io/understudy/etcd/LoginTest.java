package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What no real cluster does to us; what one does is in LoginIT. */
final class LoginTest {

    private static final Endpoint OTHER_MACHINE = Endpoint.of(URI.create("http://192.0.2.1:2379"));

    @Test
    void noPasswordIsSentInPlaintextToEndpointsOfTheMemberListAlone() throws IOException {
        EtcdSettings settings =
                EtcdSettings.of(URI.create("http://127.0.0.1:1")).withLogin(new Credentials("gateway", "secret"));
        List<String> outcomes = new ArrayList<>();
        Login login = Login.of(
                settings,
                () -> List.of(OTHER_MACHINE),
                endpoint -> {
                    throw new AssertionError("asked " + endpoint);
                },
                outcomes::add);
        Server member = NettyServerBuilder.forPort(0).build().start();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", member.getPort())
                .usePlaintext()
                .build();
        try {
            KVGrpc.KVBlockingStub user = KVGrpc.newBlockingStub(ClientInterceptors.intercept(channel, login));

            assertThatThrownBy(() -> user.range(RangeRequest.getDefaultInstance()))
                    .hasMessageContaining("insecure: true");
            assertThat(outcomes).containsExactly(EtcdMetrics.FAILED);
        } finally {
            channel.shutdownNow();
            member.shutdownNow();
        }
    }

    @Test
    void anUnexpectedFailureOfALoginFailsEachCallThatWaitsForIt() throws IOException {
        EtcdSettings settings =
                EtcdSettings.of(URI.create("https://127.0.0.1:1")).withLogin(new Credentials("gateway", "secret"));
        Login login = Login.of(
                settings,
                () -> List.of(Endpoint.of("https://127.0.0.1:1")),
                endpoint -> {
                    throw new IllegalStateException("no channel");
                },
                outcome -> {
                    throw new IllegalStateException("no metrics");
                });
        Server member = NettyServerBuilder.forPort(0).build().start();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", member.getPort())
                .usePlaintext()
                .build();
        try {
            for (int i = 0; i < 2; i++) {
                KVGrpc.KVBlockingStub user = KVGrpc.newBlockingStub(ClientInterceptors.intercept(channel, login))
                        .withDeadlineAfter(10, TimeUnit.SECONDS);

                assertThatThrownBy(() -> user.range(RangeRequest.getDefaultInstance()))
                        .hasStackTraceContaining("no metrics");
            }
        } finally {
            channel.shutdownNow();
            member.shutdownNow();
        }
    }
}
