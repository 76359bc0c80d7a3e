package io.understudy.documentation;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What the archive has, by the sources and the description that it is put together by. */
final class Shipped {

    private static final Path SOURCES = Repository.ROOT.resolve("deploy/dist/src/main/dist");

    private static final String ASSEMBLY =
            Repository.text(Repository.ROOT.resolve("deploy/dist/src/main/assembly/distribution.xml"));

    private static final Pattern FOLDER = Pattern.compile("<outputDirectory>([^<]+)</outputDirectory>");
    private static final Pattern FILE =
            Pattern.compile("<source>(?:[^<]*/)?([^</]+)</source>\\s*(?:<outputDirectory>([^<]+)</outputDirectory>)?");

    /** Filled by the build, so that the sources don't have their content. */
    private static final Pattern FILLED =
            Pattern.compile("<directory>\\$\\{[^<]*</directory>\\s*<outputDirectory>([^<]+)</outputDirectory>");

    private static final Set<String> FILES = FILE.matcher(ASSEMBLY)
            .results()
            .map(file -> file.group(2) == null ? file.group(1) : file.group(2) + "/" + file.group(1))
            .collect(Collectors.toSet());

    private static final Set<String> FOLDERS = first(FOLDER);
    private static final Set<String> FILLED_FOLDERS = first(FILLED);

    private Shipped() {}

    /** Whether the archive has it, by its path in there. */
    static boolean has(String path) {
        String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        int last = plain.lastIndexOf('/');
        return Files.exists(SOURCES.resolve(plain))
                || FILES.contains(plain)
                || FOLDERS.contains(plain)
                || (last > 0 && FILLED_FOLDERS.contains(plain.substring(0, last)));
    }

    /** Where a document is in the archive, if it is shipped. */
    static Optional<Path> folderOf(Path document) {
        return document.startsWith(SOURCES)
                ? Optional.of(SOURCES.relativize(document).getParent())
                : Optional.empty();
    }

    private static Set<String> first(Pattern pattern) {
        return new HashSet<>(pattern.matcher(ASSEMBLY)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList());
    }
}
