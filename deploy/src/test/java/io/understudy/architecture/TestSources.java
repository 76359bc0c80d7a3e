package io.understudy.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The sources of all tests, without comments and literals. */
final class TestSources {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final List<String> MODULES = List.of(
            "common", "common/local-cluster", "gateway", "mirror", "mirror/kafka-consumer", "deploy", "deploy/bench");

    /** The tag of tests of speed, which the default build leaves out. */
    private static final String SPEED = "@Tag(\"speed\")";

    private static final Pattern COMMENT_OR_LITERAL = Pattern.compile(
            "\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\\n])*+'|//[^\\n]*+|/\\*.*?\\*/",
            Pattern.DOTALL);

    private TestSources() {}

    /** A source file. */
    record Source(String name, String text) {

        /** Returns the text without the classes and methods that are tagged as tests of speed. */
        String withoutSpeed() {
            StringBuilder rest = new StringBuilder(text);
            for (int tag = rest.indexOf(SPEED); tag >= 0; tag = rest.indexOf(SPEED)) {
                rest.delete(tag, endOfBlock(rest, rest.indexOf("{", tag)));
            }
            return rest.toString();
        }

        private static int endOfBlock(CharSequence text, int begin) {
            int depth = 0;
            for (int at = begin; at < text.length(); at++) {
                if (text.charAt(at) == '{') {
                    depth++;
                } else if (text.charAt(at) == '}' && --depth == 0) {
                    return at + 1;
                }
            }
            return text.length();
        }
    }

    static Stream<Source> all() {
        return MODULES.stream()
                .map(module -> ROOT.resolve(module).resolve("src/test/java"))
                .filter(Files::isDirectory)
                .flatMap(TestSources::in);
    }

    private static Stream<Source> in(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files
                    .filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .map(TestSources::read)
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Source read(Path file) {
        try {
            return of(file.getFileName().toString().replace(".java", ""), Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Source of(String name, String java) {
        Matcher found = COMMENT_OR_LITERAL.matcher(java);
        StringBuilder text = new StringBuilder();
        while (found.find()) {
            String kept = found.group().equals("\"speed\"")
                    ? found.group()
                    : found.group().startsWith("\"") ? "\"\"" : "";
            found.appendReplacement(text, Matcher.quoteReplacement(kept));
        }
        found.appendTail(text);
        return new Source(name, text.toString());
    }
}
