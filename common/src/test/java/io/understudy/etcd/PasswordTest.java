package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.understudy.config.Configuration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What a login goes by; that it asks is in LoginIT. */
final class PasswordTest {

    @TempDir
    Path folder;

    private Path file;
    private Password password;

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

        assertThat(password.isAnother().join()).isTrue();
        assertThat(password.current()).isEqualTo("new");
    }

    @Test
    void thereIsNoOtherWhileTheFileHoldsTheSame() {
        assertThat(password.isAnother().join()).isFalse();
    }

    @Test
    void aFileThatIsEmptyOrGoneKeepsWhatWasReadAndIsToldOnceUntilItCanBeReadAgain() throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger(Password.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        try {
            Files.writeString(file, "\n");
            assertThat(password.isAnother().join()).isFalse();
            Files.delete(file);
            assertThat(password.isAnother().join()).isFalse();

            assertThat(password.current()).isEqualTo("old");
            assertThat(logged.list).singleElement().satisfies(event -> {
                assertThat(event.getLevel()).isEqualTo(Level.WARN);
                assertThat(event.getFormattedMessage())
                        .contains("cluster=source", "user=gateway", file.toString(), "it is empty");
            });

            Files.writeString(file, "new");
            assertThat(password.isAnother().join()).isTrue();
            Files.delete(file);
            assertThat(password.isAnother().join()).isFalse();
            assertThat(logged.list)
                    .filteredOn(event -> event.getLevel() == Level.WARN)
                    .hasSize(2);
            assertThat(logged.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .allSatisfy(line -> assertThat(line).doesNotContainPattern("\\bnew\\b"));
        } finally {
            logger.detachAppender(logged);
        }
    }

    @Test
    void whatWasGivenItselfHasNoOther() {
        Password itself = new Password("source", new Credentials("gateway", "secret"));

        assertThat(itself.isAnother().join()).isFalse();
    }
}
