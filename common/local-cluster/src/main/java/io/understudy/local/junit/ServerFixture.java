package io.understudy.local.junit;

import io.understudy.local.process.Folders;
import io.understudy.local.process.LocalServers;
import io.understudy.local.process.ServerLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.opentest4j.TestAbortedException;

/**
 * The servers of one test class or of one test.
 *
 * <p>Shared ones outlive their class: the next class of the same JVM with the same kind gets them empty. They are
 * replaced if a test restarted one of them, changed their membership, or failed.
 */
final class ServerFixture<S extends LocalServers> {

    private static final Namespace SHARED = Namespace.create(ServerFixture.class);

    private final String name;
    private final Function<Path, S> servers;
    private boolean perClass;
    private @Nullable String sharedAs;
    /** A class and the nested ones in it. */
    private int classes;

    private @Nullable Running<S> running;

    /** @param servers makes them, not started, for data in the given folder */
    ServerFixture(String name, Function<Path, S> servers) {
        this.name = name;
        this.servers = servers;
    }

    /** Shares servers of a static field among all classes of this JVM with that {@code kind}. Null: not shared. */
    void shareAs(@Nullable String kind) {
        sharedAs = kind;
    }

    S servers() {
        Running<S> current = running;
        if (current == null) {
            throw new IllegalStateException(name + " is running only during a test");
        }
        return current.servers();
    }

    void beforeAll(ExtensionContext context) {
        perClass = true;
        if (classes++ > 0) {
            return;
        }
        Slot<S> slot = slot(context);
        running = slot == null ? null : slot.take();
        if (running == null) {
            running = start(context);
            if (slot != null) {
                // A test of the first class must not rely on what only the first class finds, such as low revisions.
                running.servers().reset();
            }
        }
    }

    void beforeEach(ExtensionContext context) {
        if (!perClass) {
            running = start(context);
        }
    }

    void afterEach(ExtensionContext context) {
        if (hasFailed(context)) {
            show(context);
        }
        if (!perClass) {
            close();
            return;
        }
        try {
            servers().mend();
        } catch (RuntimeException e) {
            show(context);
            throw e;
        }
    }

    private void show(ExtensionContext context) {
        Running<S> current = running;
        if (current != null) {
            current.servers().logs().forEach((server, log) -> TestFolder.show(context, server, log));
            current.folder().keep();
        }
    }

    private static boolean hasFailed(ExtensionContext context) {
        return context.getExecutionException()
                .filter(failure -> !(failure instanceof TestAbortedException))
                .isPresent();
    }

    void afterAll(ExtensionContext context) {
        if (--classes > 0) {
            return;
        }
        Running<S> current = running;
        Slot<S> slot = slot(context);
        try {
            if (current != null
                    && slot != null
                    && !current.folder().isKept()
                    && !hasFailed(context)
                    && current.servers().reset()) {
                slot.give(current);
                running = null;
            }
        } finally {
            close();
        }
    }

    private Running<S> start(ExtensionContext context) {
        TestFolder folder = TestFolder.of(context, name);
        S made = servers.apply(folder.path());
        try {
            made.start();
        } catch (RuntimeException e) {
            folder.keep();
            throw e;
        }
        return new Running<>(made, folder);
    }

    private void close() {
        if (running != null) {
            running.close();
        }
        running = null;
    }

    @SuppressWarnings("unchecked") // A kind has servers of one class.
    private @Nullable Slot<S> slot(ExtensionContext context) {
        return sharedAs == null || !perClass
                ? null
                : context.getStore(StoreScope.LAUNCHER_SESSION, SHARED)
                        .getOrComputeIfAbsent(sharedAs, kind -> new Slot<S>(), Slot.class);
    }

    private record Running<S extends LocalServers>(S servers, TestFolder folder) {

        void close() {
            servers.close();
            folder.close();
        }
    }

    /** Holds idle servers between two classes; closed with JUnit's session. */
    private static final class Slot<S extends LocalServers> implements AutoCloseable {
        private @Nullable Running<S> idle;

        synchronized @Nullable Running<S> take() {
            Running<S> taken = idle;
            idle = null;
            return taken;
        }

        synchronized void give(Running<S> servers) {
            if (idle == null) {
                idle = servers;
            } else {
                servers.close();
            }
        }

        @Override
        public synchronized void close() {
            if (idle != null) {
                idle.close();
            }
        }
    }

    /** Folder of one test's servers below {@code target/clusters}, deleted at the end unless the test failed. */
    private static final class TestFolder {

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

        /** Keeps the files of a failed test for diagnosis. */
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
}
