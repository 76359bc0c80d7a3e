package io.understudy.lab.part;

import io.understudy.local.process.ServerCommand;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The {@code understudy} command of this build, which runs sub-commands as separate processes.
 *
 * @param program absolute path
 * @param arguments arguments before the sub-command
 */
public record UnderstudyCommand(Path program, List<String> arguments) {

    private static final Path ENV = Path.of("/usr/bin/env");
    private static final String PREFIX = "UNDERSTUDY_";
    private static final String JAVA_OPTIONS = "UNDERSTUDY_JAVA_OPTS";
    private static final Set<String> KEPT = Set.of(JAVA_OPTIONS, "UNDERSTUDY_LOG_LEVEL", "UNDERSTUDY_LOG_FORMAT");
    private static final String MAIN = "io.understudy.cli.Understudy";

    /** Returns the command of the distribution, else of this JVM's class path. */
    public static UnderstudyCommand ofThisBuild() {
        return Optional.ofNullable(System.getProperty("understudy.home"))
                .map(home ->
                        new UnderstudyCommand(Path.of(home, "bin", "understudy").toAbsolutePath(), List.of()))
                .orElseGet(() -> new UnderstudyCommand(
                        Path.of(System.getProperty("java.home"), "bin", "java").toAbsolutePath(),
                        List.of("-XX:+ExitOnOutOfMemoryError", "-cp", absoluteClassPath(), MAIN)));
    }

    /** Returns the class path with absolute entries, since the child has another directory. */
    private static String absoluteClassPath() {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            entries.add(Path.of(entry).toAbsolutePath().toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    /**
     * Returns a process of a sub-command. Variables that would override settings of a gateway or mirror are removed:
     * those of the lab's are in its files. The JVM's compilers keep their defaults, so that measurements in the lab are
     * representative.
     *
     * @param jvmOptions separated by blanks; the user's own follow
     * @param variables the environment of this JVM
     */
    public ServerCommand running(
            String name, Path folder, String jvmOptions, Map<String, String> variables, String... subCommand) {
        List<String> line = new ArrayList<>();
        variables.keySet().stream()
                .filter(variable -> variable.startsWith(PREFIX) && !KEPT.contains(variable))
                .sorted()
                .forEach(variable -> line.addAll(List.of("-u", variable)));
        line.add(program.toString());
        line.addAll(arguments);
        line.addAll(List.of(subCommand));
        String options = (jvmOptions + " " + variables.getOrDefault(JAVA_OPTIONS, "")).strip();
        return new ServerCommand(name, ENV, line, Map.of(JAVA_OPTIONS, options), folder, folder.resolve(name + ".log"));
    }
}
