package io.understudy.local.binary;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

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
}
