package io.understudy.local.junit;

import io.understudy.local.process.Folders;
import io.understudy.local.process.ServerLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Folder of one cluster of one test, below {@code target/clusters}; deleted at the end unless the test failed. */
final class TestFolder {

    private static final Path BASE = Path.of("target", "clusters").toAbsolutePath();

    private final Path path;
    private boolean keep;

    private TestFolder(Path path) {
        this.path = path;
    }

    static TestFolder of(ExtensionContext context, String name) {
        try {
            Files.createDirectories(BASE);
            return new TestFolder(Files.createTempDirectory(
                    BASE, context.getRequiredTestClass().getSimpleName() + "-" + name + "-"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create a folder below " + BASE, e);
        }
    }

    Path path() {
        return path;
    }

    /** A test failed: what is here may tell why. */
    void keep() {
        keep = true;
    }

    /** Names a server's log in the test's report. */
    static void show(ExtensionContext context, String server, ServerLog log) {
        context.publishReportEntry("log of " + server, log.file().toString());
    }

    boolean isKept() {
        return keep;
    }

    void close() {
        if (!keep) {
            Folders.delete(path);
        }
    }
}
