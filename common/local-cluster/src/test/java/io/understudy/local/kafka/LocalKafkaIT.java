package io.understudy.local.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.local.junit.KafkaExtension;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class LocalKafkaIT {

    private static final short API_VERSIONS = 18;

    @RegisterExtension
    static final KafkaExtension extension = KafkaExtension.broker().behindProxy();

    @Test
    void aKilledBrokerStartsAgainWithTheSameStorage() throws IOException {
        LocalKafka kafka = extension.kafka();
        assertThat(answers(kafka)).isTrue();
        kafka.kill();
        assertThat(kafka.isAlive()).isFalse();
        assertThatThrownBy(() -> answers(kafka)).isInstanceOf(IOException.class);
        kafka.start();
        assertThat(answers(kafka)).isTrue();
        assertThat(kafka.log().from(0)).containsOnlyOnce("Formatting dynamic metadata voter directory");
    }

    @Test
    void aPausedBrokerIsThereButAnswersOnlyWhenResumed() throws IOException {
        LocalKafka kafka = extension.kafka();
        kafka.pause();
        assertThat(kafka.isAlive()).isTrue();
        assertThatThrownBy(() -> answers(kafka)).isInstanceOf(IOException.class);
        kafka.resume();
        assertThat(answers(kafka)).isTrue();
    }

    @Test
    void aFolderWithoutABrokerIsNamedInTheRefusal(@TempDir Path folder) throws IOException {
        Files.createFile(folder.resolve("other.jar"));
        assertThatThrownBy(() -> KafkaLibrary.at(folder.toString()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(folder.toString());
        assertThatThrownBy(() -> KafkaLibrary.at(" ")).hasMessageContaining("UNDERSTUDY_KAFKA_LIB");
    }

    /** Requests the versions of the protocol, the one request that needs no client library. */
    private static boolean answers(LocalKafka kafka) throws IOException {
        int port = Integer.parseInt(kafka.bootstrapServers().replaceAll(".*:", ""));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(2_000);
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(10);
            out.writeShort(API_VERSIONS);
            out.writeShort(0);
            out.writeInt(7);
            out.writeShort(-1);
            out.flush();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.readInt();
            return in.readInt() == 7 && in.readShort() == 0;
        }
    }
}
