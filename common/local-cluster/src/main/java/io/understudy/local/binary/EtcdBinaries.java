package io.understudy.local.binary;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * etcd's programs on this machine, at least {@link ProgramVersion#OLDEST}.
 *
 * @param etcd absolute path of the server
 * @param etcdctl absolute path of the client
 * @param etcdutl absolute path of the offline tool; null where the place has none
 * @param version reported by the server
 */
public record EtcdBinaries(
        Path etcd, Path etcdctl, @Nullable Path etcdutl, ProgramVersion version) {

    /** Cache per JVM, since verifying 90 MB takes a second. */
    private static final Map<List<WantedVersion>, EtcdBinaries> FOUND = new ConcurrentHashMap<>();

    private static final Duration VERSION_DEADLINE = Duration.ofSeconds(20);

    /** As {@link #find(Consumer)}, without progress. */
    public static EtcdBinaries find() {
        return find(step -> {});
    }

    /**
     * Finds the programs, or downloads them into the user's cache. The first download may take a minute. Of several
     * processes, one downloads and the others wait. The version is that of the system property {@code
     * understudy.etcd.version}, a list such as {@code 3.7,3.5} with the preferred one first.
     *
     * @param progress receives, on the calling thread, each step that may take longer than a moment
     * @throws EtcdNotFoundException no place has the version or can fetch it; the message lists all places
     */
    public static EtcdBinaries find(Consumer<String> progress) {
        return find(WantedVersion.configured(), progress);
    }

    /** As {@link #find()}, of {@code versions} such as {@code 3.6}. */
    public static EtcdBinaries find(String versions) {
        return find(WantedVersion.parse(versions), step -> {});
    }

    private static EtcdBinaries find(List<WantedVersion> wanted, Consumer<String> progress) {
        EtcdBinaries known = FOUND.get(wanted);
        if (known != null && Files.isExecutable(known.etcd()) && Files.isExecutable(known.etcdctl())) {
            return known;
        }
        EtcdBinaries found = Search.ofThisMachine().run(wanted, progress);
        FOUND.put(wanted, found);
        return found;
    }

    /** Whether the user sets their path, which then applies to all of them. */
    public static boolean areNamed() {
        return new ExplicitPath().isNamed();
    }

    /**
     * The programs in a folder.
     *
     * @throws NotHereException one is missing, does not run here, or is too old
     */
    static EtcdBinaries in(Path folder) throws NotHereException {
        return of(folder.resolve("etcd"));
    }

    /** The server at the path with the clients beside it. */
    static EtcdBinaries of(Path etcd) throws NotHereException {
        Path etcdctl = etcd.resolveSibling("etcdctl");
        for (Path program : List.of(etcd, etcdctl)) {
            if (!Files.isExecutable(program)) {
                throw new NotHereException("no executable file " + program);
            }
        }
        ProgramVersion version = versionOf(etcd);
        if (!version.isAtLeast(ProgramVersion.OLDEST)) {
            throw new NotHereException(
                    etcd + " is version " + version + "; at least " + ProgramVersion.OLDEST + " is required");
        }
        Path etcdutl = etcd.resolveSibling("etcdutl");
        return new EtcdBinaries(etcd, etcdctl, Files.isExecutable(etcdutl) ? etcdutl : null, version);
    }

    private static ProgramVersion versionOf(Path etcd) throws NotHereException {
        String printed;
        try {
            printed = Command.of(List.of(etcd.toString(), "--version")).run(VERSION_DEADLINE);
        } catch (CommandFailedException e) {
            throw new NotHereException("cannot run etcd: " + e.getMessage(), e);
        }
        return ProgramVersion.in(printed)
                .orElseThrow(
                        () -> new NotHereException(etcd + " --version printed no version: '" + printed.strip() + "'"));
    }

    /**
     * Looks in one place after the other, for each wanted version in turn. A failure lists every place with its reason.
     */
    record Search(ExplicitPath explicit, List<BinarySource> places) {

        static Search ofThisMachine() {
            EtcdCache cache = EtcdCache.ofThisUser();
            return new Search(
                    new ExplicitPath(),
                    List.of(
                            new SystemPath(),
                            cache,
                            new Fetched(cache, new OfficialRelease()),
                            new Fetched(cache, new DebianPackages()),
                            new Fetched(cache, new GoModules())));
        }

        EtcdBinaries run(List<WantedVersion> versions, Consumer<String> progress) {
            Optional<EtcdBinaries> named = explicit.find(versions);
            if (named.isPresent()) {
                return named.get();
            }
            List<String> tried = new ArrayList<>(List.of(explicit.describe() + ": not set"));
            for (WantedVersion wanted : versions) {
                for (BinarySource place : places) {
                    try {
                        return place.look(wanted, progress);
                    } catch (NotHereException e) {
                        tried.add((wanted.byDefault() ? "" : wanted + ", ") + place.describe() + ": " + e.getMessage());
                    }
                }
            }
            throw new EtcdNotFoundException(tried);
        }

        /** The folders of PATH. */
        static final class SystemPath implements BinarySource {

            private final @Nullable String path;

            SystemPath() {
                this(System.getenv("PATH"));
            }

            SystemPath(@Nullable String path) {
                this.path = path;
            }

            @Override
            public String describe() {
                return "PATH";
            }

            @Override
            public EtcdBinaries look(WantedVersion wanted, Consumer<String> progress) throws NotHereException {
                List<String> reasons = new ArrayList<>();
                for (String folder : (path == null ? "" : path).split(File.pathSeparator, -1)) {
                    if (folder.isEmpty() || !Files.isExecutable(Path.of(folder, "etcd"))) {
                        continue;
                    }
                    try {
                        EtcdBinaries found = EtcdBinaries.in(Path.of(folder).toAbsolutePath());
                        if (wanted.byDefault() || wanted.accepts(found.version())) {
                            return found;
                        }
                        reasons.add(found.etcd() + " is version " + found.version());
                    } catch (NotHereException e) {
                        reasons.add(e.getMessage());
                    }
                }
                throw new NotHereException(reasons.isEmpty() ? "no etcd found" : String.join("; ", reasons));
            }
        }
    }

    /**
     * etcd's programs, built from its modules by the Go toolchain on PATH. Go checks what it downloads against its own
     * checksum database. Takes about a minute.
     */
    private static final class GoModules implements Fetched.Source {

        private static final String MODULES = "go.etcd.io/etcd/";
        private static final List<String> PROGRAMS = List.of("server", "etcdctl", "etcdutl");
        private static final Duration DEADLINE = Duration.ofMinutes(10);

        @Override
        public String describe() {
            return "etcd Go modules";
        }

        @Override
        public boolean has(WantedVersion wanted) {
            return wanted.patch() != null || WantedVersion.NEWEST.containsKey(wanted.minor());
        }

        @Override
        public void fetch(WantedVersion wanted, Path folder, Consumer<String> progress) throws NotHereException {
            if (!isGoInstalled()) {
                throw new NotHereException("go not found in PATH");
            }
            String version = wanted.patch() == null
                    ? wanted + "." + WantedVersion.NEWEST.get(wanted.minor())
                    : wanted.toString();
            progress.accept("building etcd " + version + " with go");
            try {
                // `go install module@version` refuses modules with replace directives, which etcd's have.
                Path work = Files.createDirectory(folder.resolveSibling("go-" + version));
                Files.writeString(work.resolve("go.mod"), "module local/etcd\n");
                List<String> get = new ArrayList<>(List.of("go", "get"));
                List<String> build =
                        new ArrayList<>(List.of("go", "build", "-trimpath", "-o", folder + File.separator));
                StringBuilder imports = new StringBuilder("//go:build tools\n\npackage tools\n\n");
                for (String program : PROGRAMS) {
                    String module = MODULES + program + "/v3";
                    get.add(module + "@v" + version);
                    build.add(module);
                    imports.append("import _ \"").append(module).append("\"\n");
                }
                Files.writeString(work.resolve("tools.go"), imports);
                run(work, get);
                run(work, build);
                Files.move(folder.resolve("server"), folder.resolve("etcd"));
            } catch (IOException | CommandFailedException e) {
                throw new NotHereException(String.valueOf(e.getMessage()), e);
            }
        }

        private static void run(Path work, List<String> line) {
            Command.of(line)
                    .in(work)
                    .with("GOFLAGS", "-mod=mod")
                    .with("CGO_ENABLED", "0")
                    .run(DEADLINE);
        }

        private static boolean isGoInstalled() {
            String path = System.getenv("PATH");
            return path != null
                    && Arrays.stream(path.split(File.pathSeparator, -1))
                            .anyMatch(folder -> !folder.isEmpty() && Files.isExecutable(Path.of(folder, "go")));
        }
    }
}
