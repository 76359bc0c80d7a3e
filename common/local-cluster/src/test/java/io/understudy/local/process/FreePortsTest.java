package io.understudy.local.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreePortsTest {

    @Test
    void noPortIsGivenTwiceWhileItIsHeld() {
        Set<Integer> seen = new HashSet<>();
        try (FreePorts first = FreePorts.take(100);
                FreePorts second = FreePorts.take(100)) {
            for (int index = 0; index < 100; index++) {
                seen.add(first.get(index));
                seen.add(second.get(index));
            }
        }
        assertThat(seen).hasSize(200);
    }

    @Test
    void aPortWithAListenerIsNotFree() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(FreePorts.isFree(taken.getLocalPort())).isFalse();
        }
    }
}
