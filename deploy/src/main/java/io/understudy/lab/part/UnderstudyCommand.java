package io.understudy.lab.part;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The {@code understudy} command of this very build, to run its other sub-commands as processes of their own.
 *
 * @param program absolute path
 * @param arguments those that come before the sub-command
 */
record UnderstudyCommand(Path program, List<String> arguments) {

    private static final String MAIN = "io.understudy.cli.Understudy";

    /** From the distribution if this JVM runs from one, else on this JVM's class path. */
    static UnderstudyCommand ofThisBuild() {
        return Optional.ofNullable(System.getProperty("understudy.home"))
                .map(home ->
                        new UnderstudyCommand(Path.of(home, "bin", "understudy").toAbsolutePath(), List.of()))
                .orElseGet(() -> new UnderstudyCommand(
                        Path.of(System.getProperty("java.home"), "bin", "java").toAbsolutePath(),
                        List.of("-XX:+ExitOnOutOfMemoryError", "-cp", absoluteClassPath(), MAIN)));
    }

    /** Relative entries would mean something else in the child's directory. */
    private static String absoluteClassPath() {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            entries.add(Path.of(entry).toAbsolutePath().toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    List<String> running(String... subCommand) {
        List<String> line = new ArrayList<>(arguments);
        line.addAll(List.of(subCommand));
        return line;
    }

    /** Leaves the JVM's compilers alone, so that what is measured in the lab is what is seen elsewhere. */
    Map<String, String> environment() {
        String own = "-Xmx512m";
        String users = System.getenv("UNDERSTUDY_JAVA_OPTS");
        return Map.of("UNDERSTUDY_JAVA_OPTS", users == null ? own : own + " " + users);
    }
}
