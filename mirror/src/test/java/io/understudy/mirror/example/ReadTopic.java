package io.understudy.mirror.example;

import io.understudy.consumer.Change;
import io.understudy.consumer.ConsumerOptions;
import io.understudy.consumer.Event;
import io.understudy.consumer.MirrorConsumer;
import io.understudy.consumer.Position;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A consumer that prints each change; it is shown in docs/operate/kafka.md. */
public final class ReadTopic {

    private ReadTopic() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> kafka = Map.of("bootstrap.servers", arguments[0]);
        var text = new StringDeserializer();
        var options = ConsumerOptions.of(kafka, arguments[1], text, text);
        Path file = Path.of(arguments[2]);
        Position stored = Files.exists(file) ? Position.parse(Files.readString(file)) : null;
        try (MirrorConsumer<String, String> consumer = MirrorConsumer.open(options, stored)) {
            while (true) {
                Event<String, String> event = consumer.next(Duration.ofSeconds(1));
                if (event instanceof Event.StateBegin<String, String> begin) {
                    Files.deleteIfExists(file);
                    System.out.println("discard all keys: " + begin.reason());
                } else if (event instanceof Event.StatePart<String, String> part) {
                    System.out.println("state: " + part.change());
                } else if (event instanceof Event.StateEnd<String, String> end) {
                    store(file, end.position());
                } else if (event instanceof Event.Commit<String, String> commit) {
                    for (Change<String, String> change : commit.changes()) {
                        System.out.println(commit.revision() + ": " + change);
                    }
                    store(file, commit.position());
                } else if (event instanceof Event.Progress<String, String> progress) {
                    store(file, progress.position());
                }
            }
        }
    }

    /** A real consumer stores the position with the effects, in one transaction. */
    private static void store(Path file, Position position) throws IOException {
        Path written = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), position.toString());
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
