package io.understudy.cli;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** How a process is told its configuration; flags win over the environment, which wins over the file. */
final class ConfigurationFlags {

    @Option(
            names = "--config",
            required = true,
            paramLabel = "FILE",
            description = "Configuration file (YAML). UNDERSTUDY_... variables override it.")
    private Path file;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Override one setting. Repeatable.")
    private final Map<String, String> values = new LinkedHashMap<>();

    Path file() {
        return file;
    }

    Map<String, String> values() {
        return values;
    }
}
