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
import java.util.function.Consumer;

/**
 * etcd's programs, built from its modules by the Go toolchain on PATH. Go checks what it downloads against its own
 * checksum database. Takes about a minute.
 */
final class GoModules implements Fetched.Source {

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
        String version =
                wanted.patch() == null ? wanted + "." + WantedVersion.NEWEST.get(wanted.minor()) : wanted.toString();
        progress.accept("building etcd " + version + " with go");
        try {
            // `go install module@version` refuses modules with replace directives, which etcd's have.
            Path work = Files.createDirectory(folder.resolveSibling("go-" + version));
            Files.writeString(work.resolve("go.mod"), "module local/etcd\n");
            List<String> get = new ArrayList<>(List.of("go", "get"));
            List<String> build = new ArrayList<>(List.of("go", "build", "-trimpath", "-o", folder + File.separator));
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
