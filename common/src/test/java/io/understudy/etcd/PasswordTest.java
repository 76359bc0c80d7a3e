package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.understudy.config.Configuration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * The source of a login's password; its requests are in LoginIT.
 *
 * <p>Tests invariant E12.
 */
final class PasswordTest {

    @TempDir
    Path folder;

    private final Logger logger = (Logger) LoggerFactory.getLogger(Password.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private Path file;
    private Password password;

    @BeforeEach
    void listen() {
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(logged);
    }

    @BeforeEach
    void configure() throws IOException {
        file = Files.writeString(folder.resolve("password"), "old\n");
        Configuration configuration = Configuration.load(
                null,
                Map.of(),
                Map.of("endpoints", "http://127.0.0.1:1", "user", "gateway", "passwordFile", file.toString()),
                EtcdSettings.ROWS);
        password = new Password(
                "source", EtcdSettings.from("source", configuration).login());
    }

    @Test
    void whatTheFileHoldsByThenTakesThePlaceOfWhatWasRefused() throws IOException {
        assertThat(password.current()).isEqualTo("old");

        Files.writeString(file, "new\n");

        assertThat(password.isAnother("old").join()).isTrue();
        assertThat(password.current()).isEqualTo("new");
    }

    @Test
    void whatWasReadSinceALoginBeganIsAnotherThanWhatItWasRefusedWith() throws IOException {
        Files.writeString(file, "new\n");
        assertThat(password.isAnother("old").join()).isTrue();

        assertThat(password.isAnother("old").join()).isTrue();
        assertThat(password.isAnother("new").join()).isFalse();
    }

    @Test
    void thereIsNoOtherWhileTheFileHoldsTheSame() {
        assertThat(password.isAnother("old").join()).isFalse();
    }

    @Test
    void anEmptyOrMissingFileKeepsThePasswordAndIsReportedOnce() throws IOException {
        Files.writeString(file, "\n");
        assertThat(password.isAnother("old").join()).isFalse();
        Files.delete(file);
        assertThat(password.isAnother("old").join()).isFalse();

        assertThat(password.current()).isEqualTo("old");
        assertThat(logged.list).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getKeyValuePairs().toString())
                    .contains("cluster=\"source\"", "user=\"gateway\"", file.toString(), "file is empty");
        });

        Files.writeString(file, "new");
        assertThat(password.isAnother("old").join()).isTrue();
        Files.delete(file);
        assertThat(password.isAnother("new").join()).isFalse();
        assertThat(logged.list)
                .filteredOn(event -> event.getLevel() == Level.WARN)
                .hasSize(2);
        assertThat(logged.list)
                .extracting(event -> event.getFormattedMessage() + event.getKeyValuePairs())
                .allSatisfy(line -> assertThat(line).doesNotContainPattern("\\bnew\\b"));
    }

    @Test
    void aFileThatHangsBlocksOneThreadAndNoCallerForLong() throws Exception {
        Files.delete(file);
        assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor())
                .isZero();
        long began = System.nanoTime();
        CompletableFuture<Boolean> first = password.isAnother("old");
        CompletableFuture<Boolean> second = password.isAnother("old");

        assertThat(first.get(20, TimeUnit.SECONDS)).isFalse();
        assertThat(second.get(20, TimeUnit.SECONDS)).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofSeconds(4));
        assertThat(password.isAnother("old")).as("asked again").isCompletedWithValue(false);
        assertThat(readers()).isEqualTo(1);
        assertThat(logged.list).singleElement().satisfies(event -> assertThat(
                        event.getKeyValuePairs().toString())
                .contains(file.toString(), "not read within 5 s"));

        Files.writeString(file, "new\n");
        await().untilAsserted(() -> assertThat(password.current()).isEqualTo("new"));
        assertThat(password.isAnother("old").join()).isTrue();
        await().untilAsserted(() -> assertThat(readers()).isZero());
    }

    private static long readers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("etcd-password"))
                .count();
    }

    @Test
    void whatWasGivenItselfHasNoOther() {
        Password itself = new Password("source", new Credentials("gateway", "secret"));

        assertThat(itself.isAnother("secret").join()).isFalse();
    }
}
