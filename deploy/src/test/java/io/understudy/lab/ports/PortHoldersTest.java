package io.understudy.lab.ports;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.lab.ports.PortHolders.PortHolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PortHoldersTest {

    private static final String HEADINGS =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    @TempDir
    private Path proc;

    @BeforeEach
    void aProcessThatListensOnPort2379() throws IOException {
        Files.createDirectories(proc.resolve("net"));
        table("   0: 0100007F:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0");
        Path descriptors = Files.createDirectories(proc.resolve("77/fd"));
        Files.createSymbolicLink(descriptors.resolve("5"), Path.of("socket:[4242]"));
        Files.writeString(proc.resolve("77/cmdline"), "etcd\0--name\0other\0");
    }

    @Test
    void aListeningSocketLeadsToItsProcess() {
        assertThat(new PortHolders(proc).of(2379)).contains(new PortHolder(77, "etcd --name other"));
    }

    @Test
    void anotherPortHasNoHolder() {
        assertThat(new PortHolders(proc).of(2380)).isEmpty();
    }

    @Test
    void aConnectionFromThatPortIsNotAListener() throws IOException {
        table("   0: 0100007F:094B 0100007F:1234 01 00000000:00000000 00:00000000 00000000     0        0 4242 1 0");

        assertThat(new PortHolders(proc).of(2379)).isEmpty();
    }

    @Test
    void aHiddenProcessIsNotFound() throws IOException {
        Files.delete(proc.resolve("77/fd/5"));

        assertThat(new PortHolders(proc).of(2379)).isEmpty();
    }

    @Test
    void aSystemWithoutSuchTablesHasNoHolders() {
        assertThat(new PortHolders(proc.resolve("missing")).of(2379)).isEmpty();
    }

    private void table(String row) throws IOException {
        Files.writeString(proc.resolve("net/tcp"), HEADINGS + row + "\n");
    }
}
