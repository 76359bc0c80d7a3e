package io.understudy.local.kafka;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A folder of jars, the class path of a program that this JVM's Java runs. */
record JarFolder(Path folder) {

    /** Fast start and small footprint; a program for tests never gains from the optimizing compiler. */
    private static final List<String> JVM = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

    /** Location of a program's jars. */
    record Place(String program, String property, String variable, String jarPrefix, String inCheckout) {

        /**
         * The folder that the property or the variable names.
         *
         * @throws IllegalStateException neither does, or the program is not there
         */
        JarFolder find() {
            return at(System.getProperty(property, System.getenv(variable)));
        }

        JarFolder at(@Nullable String named) {
            if (named == null || named.isBlank()) {
                throw new IllegalStateException(program + " not found: set " + variable + " or -D" + property
                        + " to the directory of its jars (in a checkout: " + inCheckout + ")");
            }
            Path folder = Path.of(named).toAbsolutePath();
            if (!Files.isDirectory(folder) || !hasProgram(folder)) {
                throw new IllegalStateException(program + " not found in " + folder + " (set by " + variable + " or -D"
                        + property + "): no " + jarPrefix + "*.jar");
            }
            return new JarFolder(folder);
        }

        private boolean hasProgram(Path folder) {
            String[] jars = folder.toFile().list((parent, name) -> name.startsWith(jarPrefix) && name.endsWith(".jar"));
            return jars != null && jars.length > 0;
        }
    }

    String classPath() {
        return folder.resolve("*").toString();
    }

    Path program() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    /** Arguments of {@link #program} for a main class, its heap and its logback file. */
    List<String> run(String heap, Path logging, String main, String... arguments) {
        List<String> ours = List.of("-Xmx" + heap, "-cp", classPath(), "-Dlogback.configurationFile=" + logging, main);
        return Stream.of(JVM, ours, List.of(arguments)).flatMap(List::stream).toList();
    }
}
