package io.understudy.local.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FaultProxyTest {

    private EchoServer echo;
    private FaultProxy proxy;

    @BeforeEach
    void start() throws IOException {
        echo = new EchoServer();
        proxy = FaultProxy.to(echo.address());
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        echo.close();
    }

    @Test
    void withoutAFaultBytesPassBothWaysAndAreCounted() throws IOException {
        try (Socket client = connect()) {
            assertThat(exchange(client, "to be")).isEqualTo("to be");
            assertThat(proxy.connections()).isEqualTo(1);
            assertThat(proxy.openConnections()).isEqualTo(1);
            // Counted once they are passed on, which the client may learn first.
            await().untilAsserted(() -> {
                assertThat(proxy.bytesToTarget()).isEqualTo(5);
                assertThat(proxy.bytesFromTarget()).isEqualTo(5);
            });
        }
        await().untilAsserted(() -> assertThat(proxy.openConnections()).isZero());
    }

    @Test
    void anEndOfOneDirectionPassesWhileTheOtherStillFlows() throws IOException {
        try (Socket client = connect()) {
            client.getOutputStream().write("all is silence".getBytes(StandardCharsets.US_ASCII));
            client.shutdownOutput();
            assertThat(client.getInputStream().readAllBytes()).hasSize(14);
        }
    }

    @Test
    void megabytesArriveWhole() throws Exception {
        byte[] sent = new byte[20_000_000];
        for (int index = 0; index < sent.length; index++) {
            sent[index] = (byte) ((index * 31) >> 3);
        }
        try (Socket client = connect()) {
            Thread writer = inBackground(() -> {
                client.getOutputStream().write(sent);
                client.shutdownOutput();
            });
            assertThat(client.getInputStream().readAllBytes()).isEqualTo(sent);
            writer.join();
        }
    }

    @Test
    void aDelayHoldsEachWayAndKeepsTheThroughput() throws Exception {
        try (Socket client = connect()) {
            exchange(client, "before");
            proxy.delay(Duration.ofMillis(100));
            long start = System.nanoTime();
            exchange(client, "there and back");
            assertThat(millisSince(start)).isGreaterThanOrEqualTo(200);

            // 8 MB in one batch: were only 64 KiB on their way at a time, it would take 12 s each way.
            start = System.nanoTime();
            byte[] bulk = new byte[8_000_000];
            Thread writer = inBackground(() -> client.getOutputStream().write(bulk));
            assertThat(client.getInputStream().readNBytes(bulk.length)).hasSize(bulk.length);
            writer.join();
            assertThat(millisSince(start)).isBetween(200L, 6_000L);
        }
    }

    @Test
    void aHealedDelayLetsWaitingBytesGoAtOnce() throws Exception {
        try (Socket client = connect()) {
            proxy.delay(Duration.ofHours(1));
            client.getOutputStream().write(1);
            client.setSoTimeout(300);
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
            proxy.heal();
            client.setSoTimeout(20_000);
            assertThat(client.getInputStream().read()).isEqualTo(1);
        }
    }

    @Test
    void aCutResetsOpenConnectionsAndNewOnesUntilHealed() throws IOException {
        try (Socket client = connect()) {
            exchange(client, "before");
            proxy.cut();
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> {
                        try (Socket late = connect()) {
                            exchange(late, "late");
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
        proxy.heal();
        try (Socket client = connect()) {
            assertThat(exchange(client, "after")).isEqualTo("after");
        }
    }

    @Test
    void aBlackHoleIsSilentAndWhatItHeldArrivesAfterHealing() throws IOException {
        try (Socket client = connect()) {
            exchange(client, "before");
            proxy.blackHole();
            try (Socket late = connect()) {
                for (Socket silent : new Socket[] {client, late}) {
                    silent.getOutputStream().write("lost?".getBytes(StandardCharsets.US_ASCII));
                    silent.setSoTimeout(300);
                    assertThatThrownBy(() -> silent.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
                }
                proxy.heal();
                for (Socket silent : new Socket[] {client, late}) {
                    silent.setSoTimeout(20_000);
                    assertThat(new String(silent.getInputStream().readNBytes(5), StandardCharsets.US_ASCII))
                            .isEqualTo("lost?");
                }
            }
        }
    }

    @Test
    void aHalfOpenLinkIsClosedForTheTargetOnlyAndResetWhenHealed() throws IOException {
        try (Socket client = connect()) {
            exchange(client, "before");
            proxy.halfOpen();
            await().untilAsserted(() -> assertThat(echo.openConnections()).isZero());
            client.getOutputStream().write("into the void".getBytes(StandardCharsets.US_ASCII));
            client.setSoTimeout(300);
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
            proxy.heal();
            client.setSoTimeout(20_000);
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void aThrottleBoundsTheBytesPerSecond() throws Exception {
        proxy.throttle(1_000_000);
        byte[] bulk = new byte[600_000];
        try (Socket client = connect()) {
            long start = System.nanoTime();
            Thread writer = inBackground(() -> client.getOutputStream().write(bulk));
            assertThat(client.getInputStream().readNBytes(bulk.length)).hasSize(bulk.length);
            writer.join();
            assertThat(millisSince(start)).isBetween(450L, 20_000L);
        }
    }

    @Test
    void aTargetThatDoesNotReadHoldsTheSenderBack() throws Exception {
        echo.stopReading();
        try (Socket client = connect()) {
            AtomicLong sent = new AtomicLong();
            Thread writer = inBackground(() -> {
                byte[] block = new byte[1 << 16];
                while (sent.get() < 1L << 30) {
                    client.getOutputStream().write(block);
                    sent.addAndGet(block.length);
                }
            });
            AtomicLong before = new AtomicLong(-1);
            await().pollInterval(Duration.ofMillis(300)).until(() -> before.getAndSet(sent.get()) == sent.get());
            assertThat(sent.get()).isLessThan(64 << 20);
            proxy.cut();
            writer.join();
        }
    }

    @Test
    void aRuleForOnePartyLeavesOthersAlone() throws IOException {
        Map<String, Long> parties = Map.of("me", ProcessHandle.current().pid(), "other", 1L);
        try (FaultProxy known =
                FaultProxy.between(proxyPort(), echo.address(), client -> SocketOwners.of(knownPort, () -> parties)
                        .at(client))) {
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), known.port())) {
                known.from("other").cut();
                assertThat(exchange(client, "still")).isEqualTo("still");
                known.from("me").cut();
                assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
                known.from("me").heal();
            }
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), known.port())) {
                assertThat(exchange(client, "again")).isEqualTo("again");
            }
        }
    }

    @Test
    void aConnectionOfAnUnknownPartyIsRefused() {
        try (FaultProxy known = FaultProxy.between(0, echo.address(), client -> Optional.empty());
                Socket client = new Socket(InetAddress.getLoopbackAddress(), known.port())) {
            assertThatThrownBy(() -> exchange(client, "who am I")).isInstanceOf(IOException.class);
        } catch (IOException e) {
            assertThat(e).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void badValuesAreRefusedWithWhatIsAllowed() {
        assertThatThrownBy(() -> proxy.delay(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must not be negative");
        assertThatThrownBy(() -> proxy.throttle(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 1");
        assertThatThrownBy(() -> FaultProxy.between(proxy.port(), echo.address(), Party.ANYONE))
                .hasMessageContaining(Integer.toString(proxy.port()));
    }

    private int knownPort;

    private int proxyPort() {
        try (FreePorts ports = FreePorts.take(1)) {
            knownPort = ports.get(0);
            return knownPort;
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static String exchange(Socket client, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        OutputStream out = client.getOutputStream();
        out.write(bytes);
        InputStream in = client.getInputStream();
        byte[] answer = in.readNBytes(bytes.length);
        if (answer.length < bytes.length) {
            throw new IOException("ended after " + answer.length + " bytes");
        }
        return new String(answer, StandardCharsets.US_ASCII);
    }

    private static long millisSince(long startNanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static Thread inBackground(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // The test closes or breaks the connection under it.
            }
        });
        thread.start();
        return thread;
    }
}
