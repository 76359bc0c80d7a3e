package io.understudy.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The sources that this build is of, without what builds leave. */
final class Repository {

    static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final Set<String> NOT_OURS = Set.of(".git", "target", "node_modules");
    private static final List<Path> FILES = find();

    private static final String PRODUCTION = FILES.stream()
            .filter(file ->
                    file.toString().matches(".*/src/main/(java|dist)/.*|.*/deploy/([a-z-]+(\\.sh)?|dist/pom\\.xml)"))
            .filter(file -> !file.toString().matches(".*\\.(md|png)"))
            .map(Repository::text)
            .collect(Collectors.joining());

    private Repository() {}

    /** Absolute paths. */
    static List<Path> files() {
        return FILES;
    }

    static List<Path> named(String fileName) {
        return FILES.stream().filter(file -> file.endsWith(fileName)).toList();
    }

    /** The code, and all that is shipped beside it or run from a checkout, one after the other. */
    static String production() {
        return PRODUCTION;
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> find() {
        List<Path> found = new ArrayList<>();
        try {
            Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                    return NOT_OURS.contains(folder.getFileName().toString())
                            ? FileVisitResult.SKIP_SUBTREE
                            : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    found.add(file);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return List.copyOf(found);
    }
}
