package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.cluster.recover.LogEntry.LogPosition;
import io.understudy.cluster.recover.LogEntry.Voting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logs made by hand; those of real members are read in {@link RecoveryIT}. */
final class WriteAheadLogTest {

    @TempDir
    private Path folder;

    @Test
    void entriesAfterTheCommitIndexAreTheTail() throws IOException {
        new WalFile(0)
                .entry(2, 1, "/a")
                .entry(2, 2, "/b")
                .state(2, 1)
                .entry(2, 3, "/c")
                .write(folder, 0);
        WriteAheadLog log = read();
        assertThat(log.member()).isEqualTo(0xAAAA);
        assertThat(log.cluster()).isEqualTo(0xBBBB);
        assertThat(log.last()).isEqualTo(new LogPosition(2, 3));
        assertThat(log.committed()).isEqualTo(1);
        assertThat(log.tail()).extracting(LogEntry::description).containsExactly("put /b", "put /c");
    }

    @Test
    void anEntryReplacesAllFromItsIndexOn() throws IOException {
        new WalFile(0)
                .entry(2, 1, "/a")
                .entry(2, 2, "/old")
                .entry(2, 3, "/old")
                .entry(3, 2, "/new")
                .write(folder, 0);
        assertThat(read().last()).isEqualTo(new LogPosition(3, 2));
        assertThat(read().tail()).extracting(LogEntry::description).containsExactly("put /a", "put /new");
    }

    @Test
    void segmentsContinueEachOther() throws IOException {
        WalFile first = new WalFile(0).entry(2, 1, "/a");
        WalFile second = new WalFile(first.crc()).entry(2, 2, "/b");
        WalFile third = new WalFile(second.crc()).entry(2, 3, "/c").state(2, 2);
        Path oldest = first.write(folder, 0);
        Path middle = second.write(folder, 1);
        third.write(folder, 2);
        Files.write(folder.resolve("0.tmp"), new byte[100]);
        assertThat(read().last().index()).isEqualTo(3);
        assertThat(read().tail()).hasSize(1);

        Files.delete(oldest);
        assertThat(read().last().index()).isEqualTo(3);
        first.write(folder, 0);
        Files.delete(middle);
        assertThatThrownBy(this::read).hasMessageContaining("is missing");
    }

    @Test
    void aTornEndIsIgnoredAndDamageIsNot() throws IOException {
        WalFile whole = new WalFile(0).entry(2, 1, "/a");
        int kept = whole.toBytes().length;
        whole.entry(2, 2, "/b".repeat(1000));
        Path segment = whole.write(folder, 0, kept + 700);
        assertThat(read().last().index()).isEqualTo(1);

        byte[] zeros = Arrays.copyOf(whole.toBytes(), whole.toBytes().length);
        Arrays.fill(zeros, 1024, 1536, (byte) 0);
        Files.write(segment, zeros);
        assertThat(read().last().index()).isEqualTo(1);

        byte[] flipped = whole.toBytes();
        flipped[kept + 100] ^= 1;
        Files.write(segment, flipped);
        assertThatThrownBy(this::read).hasMessageContaining("CRC mismatch");
    }

    @Test
    void aTornSegmentBeforeTheLastIsDamaged() throws IOException {
        WalFile first = new WalFile(0).entry(2, 1, "/a");
        first.write(folder, 0, first.toBytes().length - 3);
        new WalFile(first.crc()).entry(2, 2, "/b").write(folder, 1);
        assertThatThrownBy(this::read).hasMessageContaining("ends early");
    }

    @Test
    void aSnapshotCountsOnceItIsCommitted() throws IOException {
        WalFile log = new WalFile(0).entry(2, 1, "/a").state(2, 1).snapshot(3, 900, 7, 8, 9);
        log.write(folder, 0);
        assertThat(read().last().index()).isEqualTo(1);
        log.state(3, 900).write(folder, 0);
        assertThat(read().last()).isEqualTo(new LogPosition(3, 900));
        assertThat(read().voting().voters()).isEqualTo(Set.of(7L, 8L, 9L));
        log.entry(3, 901, "/b").write(folder, 0);
        assertThat(read().tail()).hasSize(1);
        log.entry(3, 950, "/c").write(folder, 0);
        assertThatThrownBy(this::read).hasMessageContaining("entry 950 follows entry 901");
    }

    @Test
    void committedChangesMakeTheConfigurationAndLaterOnesArePending() throws IOException {
        new WalFile(0)
                .change(1, 1, 0, 7)
                .change(1, 2, 0, 8)
                .change(1, 3, 3, 9)
                .state(1, 3)
                .change(1, 4, 1, 8)
                .write(folder, 0);
        WriteAheadLog log = read();
        assertThat(log.voting()).isEqualTo(new Voting(Set.of(7L, 8L), Set.of(9L)));
        assertThat(log.changes()).hasSize(1);
        assertThat(log.voting().after(log.changes().findFirst().orElseThrow()).voters())
                .containsExactly(7L);
    }

    @Test
    void aCopyMayBeMarkedAsCommitted() throws IOException {
        WalFile whole = new WalFile(0).entry(2, 1, "/a").state(2, 1).entry(2, 2, "/b");
        whole.write(folder, 0);
        read().commitAll(folder);
        assertThat(read().committed()).isEqualTo(2);
        assertThat(read().tail()).isEmpty();
        assertThat(read().term()).isEqualTo(2);
    }

    private WriteAheadLog read() throws IOException {
        return WriteAheadLog.read(folder);
    }
}
