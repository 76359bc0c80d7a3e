package io.understudy.config;

import io.understudy.etcd.EtcdSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A configuration file of any bytes is read, or refused by the one exception that names what is wrong. */
public final class YamlFuzz {

    private static final Path FILE = file();
    private static final List<Setting<?>> ROWS = rows();

    private YamlFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            Files.write(FILE, input);
            var unused = Configuration.load(FILE, Map.of(), Map.of(), ROWS);
        } catch (ConfigurationException e) {
            // What the operator is told.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Setting<?>> rows() {
        List<Setting<?>> rows = new ArrayList<>(Setting.under("source", EtcdSettings.ROWS));
        rows.addAll(Setting.under("mirrors.*.source", EtcdSettings.ROWS));
        rows.add(Setting.bytes("limits.bytes", "Bytes.").defaultsTo(1L).between(1L, 1000L));
        rows.add(Setting.duration("limits.time", "Time.").defaultsTo(Duration.ofSeconds(1)));
        rows.add(Setting.texts("names", "Names.").optionally());
        return List.copyOf(rows);
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
