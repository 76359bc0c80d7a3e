package io.understudy.gateway;

import static org.junit.jupiter.api.Assumptions.abort;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * {@code etcd3}, the etcd client of Node, and scripts that use it. Fetched once by {@code npm}, at the versions and
 * digests of {@code package-lock.json}, into this user's cache. Where {@code npm} or its registry is missing, tests of it
 * are skipped.
 */
final class NodeClient {

    private static final Path CACHE = Path.of(System.getProperty("user.home"), ".cache", "understudy", "npm");
    private static final Duration FETCH = Duration.ofSeconds(90);
    private static final Duration RUN = Duration.ofSeconds(60);

    private final Path scripts;
    private final Path modules;

    private NodeClient(Path scripts, Path modules) {
        this.scripts = scripts;
        this.modules = modules;
    }

    /** Returns the client; skips the calling test if it isn't available. */
    static NodeClient find() throws IOException {
        Path sources = resources();
        try {
            Command.of(List.of("npm", "--version")).run(Duration.ofSeconds(30));
        } catch (CommandFailedException e) {
            return abort("skipped, since Node and npm are not here (Debian: nodejs, npm): " + e.getMessage());
        }
        String lock = Files.readString(sources.resolve("package-lock.json"));
        Path home = CACHE.resolve("etcd3-" + Integer.toHexString(lock.hashCode()));
        if (!Files.isDirectory(home)) {
            try {
                fetch(sources, home);
            } catch (CommandFailedException e) {
                return abort("skipped, since npm could not fetch the client: " + e.getMessage());
            }
        }
        return new NodeClient(sources, home.resolve("node_modules"));
    }

    /** Fetches into a folder of its own first, so that an existing one is complete. */
    private static void fetch(Path sources, Path home) throws IOException {
        Files.createDirectories(CACHE);
        Path fetched = Files.createTempDirectory(CACHE, "fetching");
        for (String file : List.of("package.json", "package-lock.json")) {
            Files.copy(sources.resolve(file), fetched.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        Command.of(List.of("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"))
                .in(fetched)
                .run(FETCH);
        try {
            Files.move(fetched, home, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
            // Another build was faster.
        }
    }

    /** Returns the output of a script that reads. */
    String read(String... arguments) {
        return Command.of(line("reads.js", arguments))
                .with("NODE_PATH", modules.toString())
                .run(RUN);
    }

    /** Starts a script that watches until it is ended. */
    RunningClient watch(String... arguments) throws IOException {
        return RunningClient.start(line("watches.js", arguments), Map.of("NODE_PATH", modules.toString()));
    }

    private List<String> line(String script, String... arguments) {
        List<String> line =
                new ArrayList<>(List.of("node", scripts.resolve(script).toString()));
        line.addAll(List.of(arguments));
        return line;
    }

    private static Path resources() {
        try {
            return Path.of(Objects.requireNonNull(NodeClient.class.getResource("/etcd3-client/reads.js"))
                            .toURI())
                    .getParent();
        } catch (URISyntaxException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }
}
