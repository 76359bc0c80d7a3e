package io.understudy.gateway;

import io.understudy.local.fuzz.Fuzzer;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that send anything.
 *
 * <p>Tests invariant S2.
 */
@Tag("fuzz")
final class FuzzIT {

    private static final int INPUTS = "long".equals(System.getProperty("understudy.schedule")) ? 40_000 : 400;

    @TempDir
    private Path folder;

    @Test
    void invalidInputIsAnsweredOrDisconnectedAndOthersAreServed() {
        Random random = new Random(1);
        byte[][] longOnes = new byte[40][];
        for (int i = 0; i < longOnes.length; i++) {
            longOnes[i] = new byte[20 << i % 8];
            random.nextBytes(longOnes[i]);
        }

        Fuzzer.of(ServerFuzz.class).beginningWith(longOnes).run(INPUTS, folder);
    }
}
