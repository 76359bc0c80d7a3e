package io.understudy.cli;

import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.settings.MirrorSettings;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Finds the process and the mirror that a command is about. */
final class ConfiguredMirror {

    private ConfiguredMirror() {}

    /** Without what such commands read by themselves. */
    private static Map<String, String> settings(Map<String, String> environment) {
        Map<String, String> rest = new HashMap<>(environment);
        rest.keySet().removeAll(TakeOverFlags.VARIABLES);
        return rest;
    }

    /** All of the process' settings. */
    static MirrorSettings load(Path file, Map<String, String> values) {
        return MirrorConfiguration.load(file, settings(System.getenv()), values);
    }

    /**
     * The mirror of that name, or the only one.
     *
     * @param name null if none was given
     * @throws ParameterException there is no such mirror, or there are several; the message lists them
     */
    static MirrorSettings.Mirror find(
            Path file, Map<String, String> values, @Nullable String name, CommandLine command) {
        List<MirrorSettings.Mirror> mirrors = load(file, values).mirrors();
        List<String> names = mirrors.stream().map(MirrorSettings.Mirror::name).toList();
        if (name == null && mirrors.size() > 1) {
            throw new ParameterException(command, "specify --mirror, one of " + names);
        }
        return mirrors.stream()
                .filter(mirror -> name == null || mirror.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ParameterException(
                        command, "no mirror " + name + " in " + file + "; allowed for --mirror: " + names));
    }
}
