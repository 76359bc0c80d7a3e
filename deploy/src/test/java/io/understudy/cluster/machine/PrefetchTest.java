package io.understudy.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of its leader's database is read ahead for a newcomer. */
class PrefetchTest {

    private static final int PAGE = 4096;
    private static final int MEGABYTE = 1 << 20;
    private static final int SIZE = 40 * MEGABYTE;

    /** How far ahead is far enough. */
    private static final int AHEAD = 16 * MEGABYTE;

    @TempDir
    private Path folder;

    private final byte[] sent = new byte[SIZE];
    private Path leader;
    private Path follower;
    private FileChannel received;

    /** The first pages are the snapshot's own; the two members differ in the second half of all others. */
    @BeforeEach
    void prepare() throws IOException {
        new Random(7).nextBytes(sent);
        byte[] leading = sent.clone();
        Arrays.fill(leading, 0, 2 * PAGE, (byte) 1);
        leader = Files.write(folder.resolve("leader"), leading);
        byte[] following = leading.clone();
        Arrays.fill(following, SIZE / 2, SIZE, (byte) 2);
        follower = Files.write(folder.resolve("follower"), following);
        received = FileChannel.open(
                folder.resolve("received"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    @AfterEach
    void close() throws IOException {
        received.close();
    }

    @Test
    void readsWhatFollowsInTheDatabaseThatIsSent() throws IOException {
        // At first both have the same number of matching pages.
        try (Prefetch prefetch = Prefetch.of(List.of(follower, leader))) {
            for (int size = MEGABYTE; size <= SIZE; size += MEGABYTE) {
                follow(prefetch, size);
            }

            assertThat(prefetch.file()).contains(leader);
        }
    }

    @Test
    void readsTwiceAsMuchAsCameUntilItIsFarEnoughAhead() throws IOException {
        try (Prefetch prefetch = Prefetch.of(List.of(leader))) {
            follow(prefetch, MEGABYTE);
            assertThat(prefetch.done()).isEqualTo(3 * MEGABYTE);

            follow(prefetch, 2 * MEGABYTE);
            assertThat(prefetch.done()).isEqualTo(5 * MEGABYTE);

            follow(prefetch, 10 * MEGABYTE);
            follow(prefetch, 18 * MEGABYTE);
            assertThat(prefetch.done()).isEqualTo(18 * MEGABYTE + AHEAD);
        }
    }

    @Test
    void readsFurtherAheadWhileLittleArrives() throws IOException {
        try (Prefetch prefetch = Prefetch.of(List.of(leader))) {
            follow(prefetch, MEGABYTE);
            long before = prefetch.done();
            follow(prefetch, MEGABYTE);

            assertThat(prefetch.done()).isGreaterThan(before);
        }
    }

    @Test
    void endsWhereTheDatabaseDoes() throws IOException {
        try (Prefetch prefetch = Prefetch.of(List.of(leader))) {
            follow(prefetch, SIZE - MEGABYTE);
            follow(prefetch, SIZE);

            assertThat(prefetch.done()).isEqualTo(SIZE);
        }
    }

    @Test
    void readsWhatTheDatabaseGrewByMeanwhile() throws IOException {
        try (Prefetch prefetch = Prefetch.of(List.of(leader))) {
            Files.write(leader, new byte[PAGE], StandardOpenOption.APPEND);
            follow(prefetch, SIZE);

            assertThat(prefetch.done()).isEqualTo(SIZE + PAGE);
        }
    }

    @Test
    void readsNothingIfTheLeaderIsElsewhere() throws IOException {
        Path other = Files.write(folder.resolve("other"), new byte[SIZE]);
        try (Prefetch prefetch = Prefetch.of(List.of(other, folder.resolve("missing")))) {
            follow(prefetch, MEGABYTE);

            assertThat(prefetch.file()).isEmpty();
            assertThat(prefetch.done()).isZero();
        }
    }

    @Test
    void doesNotTakeTheFirstPagesForAnybodys() throws IOException {
        try (Prefetch prefetch = Prefetch.of(List.of(leader))) {
            follow(prefetch, 2 * PAGE);

            assertThat(prefetch.file()).isEmpty();
        }
    }

    @Test
    void isDoneOnceItIsClosed() throws IOException {
        Prefetch prefetch = Prefetch.of(List.of(leader));
        prefetch.close();
        follow(prefetch, MEGABYTE);

        assertThat(prefetch.done()).isZero();
    }

    /** So much has come by now. */
    private void follow(Prefetch prefetch, int size) throws IOException {
        received.write(ByteBuffer.wrap(sent, 0, size), 0);
        prefetch.follow(received, size);
    }
}
