package io.understudy.local.binary;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the addresses of this machine's Debian archives, in both formats that apt supports. */
final class AptSources {

    /** {@code deb [options] uri suite components…} */
    private static final Pattern ONE_LINE = Pattern.compile(
            "^deb\\s+(?:\\[(?<options>[^]]*)]\\s+)?(?<uri>\\S+)\\s+(?<suite>\\S+)\\s+(?<components>.+)$");

    private static final Pattern SIGNED_BY_OPTION = Pattern.compile("(?i)signed-by=(\\S+)");

    /**
     * A Debian archive.
     *
     * @param uri its address, as apt has it
     * @param signedBy option naming the keys, empty for apt's own
     */
    record Archive(String uri, Optional<String> signedBy) {

        String line(String suite) {
            String options = signedBy.map(keys -> "[signed-by=" + keys + "] ").orElse("");
            return "deb " + options + uri + " " + suite + " main";
        }
    }

    private AptSources() {}

    /** The Debian archives configured below a folder such as {@code /etc/apt}, each once, in order. */
    static List<Archive> archives(Path folder) throws IOException {
        List<Archive> found = new ArrayList<>();
        for (Path file : files(folder)) {
            String text = Files.readString(file);
            found.addAll(file.toString().endsWith(".sources") ? stanzas(text) : lines(text));
        }
        return found.stream().filter(AptSources::isDebian).distinct().toList();
    }

    private static List<Path> files(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        if (Files.isReadable(folder.resolve("sources.list"))) {
            files.add(folder.resolve("sources.list"));
        }
        Path parts = folder.resolve("sources.list.d");
        if (Files.isDirectory(parts)) {
            try (Stream<Path> entries = Files.list(parts)) {
                entries.filter(Files::isReadable)
                        .filter(entry -> entry.toString().endsWith(".list")
                                || entry.toString().endsWith(".sources"))
                        .sorted()
                        .forEach(files::add);
            }
        }
        return files;
    }

    /** Security and third-party archives don't carry other suites of Debian. */
    private static boolean isDebian(Archive archive) {
        return archive.uri().replaceAll("/+$", "").endsWith("/debian");
    }

    private static List<Archive> lines(String text) {
        List<Archive> found = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher entry = ONE_LINE.matcher(line.strip());
            if (entry.matches() && words(entry.group("components")).contains("main")) {
                String options = entry.group("options");
                Matcher keys = SIGNED_BY_OPTION.matcher(options == null ? "" : options);
                found.add(new Archive(entry.group("uri"), keys.find() ? Optional.of(keys.group(1)) : Optional.empty()));
            }
        }
        return found;
    }

    private static List<Archive> stanzas(String text) {
        List<Archive> found = new ArrayList<>();
        for (String stanza : text.split("\\n\\s*\\n", -1)) {
            Map<String, String> fields = fields(stanza);
            boolean usable = words(fields.get("types")).contains("deb")
                    && words(fields.get("components")).contains("main")
                    && !"no".equalsIgnoreCase(fields.getOrDefault("enabled", "yes"));
            // Keys written into the stanza itself cannot be named in one line; apt's own then have to do.
            Optional<String> keys = Optional.ofNullable(fields.get("signed-by")).filter(value -> value.startsWith("/"));
            if (usable) {
                words(fields.get("uris")).forEach(uri -> found.add(new Archive(uri, keys)));
            }
        }
        return found;
    }

    private static Map<String, String> fields(String stanza) {
        Map<String, String> fields = new TreeMap<>();
        for (String line : stanza.lines().toList()) {
            int colon = line.indexOf(':');
            if (colon > 0 && !line.startsWith("#") && !Character.isWhitespace(line.charAt(0))) {
                fields.put(
                        line.substring(0, colon).toLowerCase(Locale.ROOT),
                        line.substring(colon + 1).strip());
            }
        }
        return fields;
    }

    private static List<String> words(@Nullable String value) {
        return value == null || value.isBlank()
                ? List.of()
                : List.of(value.strip().split("\\s+", -1));
    }
}
