package io.understudy.config;

import io.understudy.etcd.EtcdSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A configuration file of any bytes is read, or rejected by the exception that names the problems. */
public final class YamlFuzz {

    private static final Path FILE = file();
    private static final List<Setting<?>> ROWS = Binder.rows(Rows.class);

    private record Rows(
            @Configured.Group("source") EtcdSettings source,
            @Configured.Group("mirrors") Map<String, Mirror> mirrors,

            @Configured(key = "limits.bytes", value = "Bytes.", byDefault = "1", range = "1..1000", bytes = true)
            long bytes,

            @Configured(key = "limits.time", value = "Time.", byDefault = "1s")
            Duration time,

            @Configured(value = "Names.", optional = true) List<String> names) {}

    private record Mirror(@Configured.Group("source") EtcdSettings source) {}

    private YamlFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            Files.write(FILE, input);
            var unused = Configuration.load(FILE, Map.of(), Map.of(), ROWS);
        } catch (ConfigurationException e) {
            // The report of an invalid file.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path file() {
        try {
            Path file = Files.createTempFile("fuzz", ".yaml");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
