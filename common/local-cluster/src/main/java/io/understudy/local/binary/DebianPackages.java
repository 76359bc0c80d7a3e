package io.understudy.local.binary;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Debian packages of etcd from a newer release, unpacked without installation and without root.
 * The mirror, its keys and any proxy are those of the machine's apt configuration, which is not changed. Archives are
 * trusted because apt checks the mirror's signed index.
 */
final class DebianPackages implements Fetched.Source {

    /** Releases that have etcd 3.5, the better one first. */
    private static final List<String> SUITES = List.of("forky", "trixie");

    private static final int MINOR = 5;
    private static final List<String> PACKAGES = List.of("etcd-server", "etcd-client");
    private static final List<String> PROGRAMS = List.of("etcd", "etcdctl", "etcdutl");
    private static final Duration DEADLINE = Duration.ofMinutes(3);

    private final Path configuration;

    DebianPackages() {
        this(Path.of("/etc/apt"));
    }

    DebianPackages(Path configuration) {
        this.configuration = configuration;
    }

    @Override
    public String describe() {
        return "Debian packages etcd-server and etcd-client (" + String.join(", ", SUITES) + ")";
    }

    @Override
    public boolean has(WantedVersion wanted) {
        return wanted.minor() == MINOR && wanted.patch() == null;
    }

    @Override
    public void fetch(WantedVersion wanted, Path folder, Consumer<String> progress) throws NotHereException {
        try {
            List<AptSources.Archive> archives = AptSources.archives(configuration);
            if (archives.isEmpty()) {
                throw new NotHereException("no Debian archive is configured below " + configuration);
            }
            List<String> reasons = new ArrayList<>();
            for (String suite : SUITES) {
                try {
                    fetch(archives, suite, folder, progress);
                    return;
                } catch (CommandFailedException e) {
                    reasons.add(suite + ": " + e.getMessage());
                }
            }
            throw new NotHereException(String.join("; ", reasons));
        } catch (IOException e) {
            throw new NotHereException(e.toString(), e);
        }
    }

    private static void fetch(List<AptSources.Archive> archives, String suite, Path folder, Consumer<String> progress)
            throws IOException, NotHereException {
        Path work = Files.createDirectory(folder.resolveSibling("debian-" + suite));
        List<String> options = privateApt(work);
        Files.write(
                work.resolve("sources.list"),
                archives.stream().map(archive -> archive.line(suite)).toList());
        progress.accept("reading the package index of Debian " + suite);
        apt(work, options, List.of("update"));
        progress.accept("downloading " + String.join(" and ", PACKAGES) + " of Debian " + suite);
        List<String> download = new ArrayList<>(List.of("download"));
        download.addAll(PACKAGES);
        apt(work, options, download);
        Path root = Files.createDirectory(work.resolve("root"));
        for (Path archive : archivesIn(work)) {
            Command.of(List.of("dpkg", "-x", archive.toString(), root.toString()))
                    .run(DEADLINE);
        }
        for (String program : PROGRAMS) {
            Path unpacked = root.resolve("usr/bin").resolve(program);
            if (Files.exists(unpacked)) {
                Files.move(unpacked, folder.resolve(program));
            }
        }
    }

    private static List<String> privateApt(Path work) throws IOException {
        Path lists = Files.createDirectories(work.resolve("lists").resolve("partial"));
        Path cache = Files.createDirectories(
                work.resolve("cache").resolve("archives").resolve("partial"));
        return List.of(
                "Dir::Etc::SourceList=" + work.resolve("sources.list"),
                "Dir::Etc::SourceParts=/dev/null",
                "Dir::Etc::Preferences=/dev/null",
                "Dir::Etc::PreferencesParts=/dev/null",
                "Dir::State::Lists=" + lists,
                "Dir::Cache=" + cache,
                "APT::Default-Release=",
                // The folder is the user's own, so apt's helper user could not write there.
                "APT::Sandbox::User=root",
                "Debug::NoLocking=true",
                "Acquire::Languages=none",
                "Acquire::Retries=1",
                "Acquire::http::Timeout=15",
                "Acquire::https::Timeout=15",
                // Without this a mirror that is out of reach is only a warning.
                "APT::Update::Error-Mode=any");
    }

    private static void apt(Path work, List<String> options, List<String> arguments) {
        List<String> line = new ArrayList<>(List.of("apt-get", "-qq"));
        options.forEach(option -> line.addAll(List.of("-o", option)));
        line.addAll(arguments);
        Command.of(line).in(work).with("LC_ALL", "C").run(DEADLINE);
    }

    private static List<Path> archivesIn(Path work) throws IOException {
        try (Stream<Path> entries = Files.list(work)) {
            return entries.filter(entry -> entry.toString().endsWith(".deb"))
                    .sorted()
                    .toList();
        }
    }

    /** Reads the addresses of this machine's Debian archives, in both formats that apt supports. */
    static final class AptSources {

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
                String options =
                        signedBy.map(keys -> "[signed-by=" + keys + "] ").orElse("");
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
                    found.add(new Archive(
                            entry.group("uri"), keys.find() ? Optional.of(keys.group(1)) : Optional.empty()));
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
                Optional<String> keys =
                        Optional.ofNullable(fields.get("signed-by")).filter(value -> value.startsWith("/"));
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
}
