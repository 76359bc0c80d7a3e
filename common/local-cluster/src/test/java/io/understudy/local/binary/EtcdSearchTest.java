package io.understudy.local.binary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.understudy.local.binary.EtcdBinaries.Search;
import io.understudy.local.binary.EtcdBinaries.Search.SystemPath;
import io.understudy.local.process.Command;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant L2. */
class EtcdSearchTest {

    private static final List<WantedVersion> ANY = WantedVersion.parse(null);

    private final List<String> steps = new CopyOnWriteArrayList<>();

    @TempDir
    Path folder;

    private Path cacheFolder;
    private EtcdCache cache;

    @BeforeEach
    void emptyCache() {
        cacheFolder = folder.resolve("cache");
        cache = new EtcdCache(cacheFolder);
    }

    @Test
    void anExplicitPathMayNameTheProgramOrItsFolder() throws Exception {
        Path bin = programs("bin", "3.5.7");
        for (Path named : List.of(bin, bin.resolve("etcd"))) {
            EtcdBinaries found = new ExplicitPath(named.toString()).find(ANY).orElseThrow();
            assertThat(found.etcd()).isEqualTo(bin.resolve("etcd"));
            assertThat(found.etcdctl()).isEqualTo(bin.resolve("etcdctl"));
            assertThat(found.etcdutl()).isNull();
            assertThat(found.version()).hasToString("3.5.7");
        }
    }

    @Test
    void anExplicitPathThatIsNoGoodEndsTheSearch() throws IOException {
        Path old = programs("old", "3.4.23");
        Search search =
                new Search(new ExplicitPath(old.toString()), List.of(new SystemPath(programs("new", "3.5.9") + "")));
        assertThatThrownBy(() -> search.run(ANY, steps::add))
                .isInstanceOf(EtcdNotFoundException.class)
                .hasMessageContaining(old.toString())
                .hasMessageContaining("is version 3.4.23; at least 3.5.0 is required");
    }

    @Test
    void onPathTheFirstThatIsRecentEnoughIsTaken() throws Exception {
        String path = programs("a", "3.4.23") + ":" + folder.resolve("missing") + "::" + programs("b", "3.6.0");
        assertThat(new SystemPath(path).look(ANY.get(0), steps::add).version()).hasToString("3.6.0");
    }

    @Test
    void theWantedVersionIsTakenWhereverItIs_theNewestKnownPatchOfAMinorFirst() throws Exception {
        Fetched.Source any = new Fetched.Source() {
            @Override
            public String describe() {
                return "any patch";
            }

            @Override
            public boolean has(WantedVersion wanted) {
                return wanted.patch() != null;
            }

            @Override
            public void fetch(WantedVersion wanted, Path target, Consumer<String> progress) throws NotHereException {
                try {
                    write(target, wanted.toString());
                } catch (IOException e) {
                    throw new NotHereException(e.toString(), e);
                }
            }
        };
        Search search = new Search(
                new ExplicitPath((String) null),
                List.of(new SystemPath(programs("a", "3.5.9").toString()), cache, new Fetched(cache, any)));
        assertThat(search.run(ANY, steps::add).version()).hasToString("3.5.9");
        assertThat(search.run(WantedVersion.parse("3.5.9"), steps::add).version())
                .hasToString("3.5.9");
        assertThat(search.run(WantedVersion.parse("3.6.1"), steps::add).version())
                .hasToString("3.6.1");
        assertThat(search.run(WantedVersion.parse("3.6"), steps::add).version())
                .hasToString("3.6." + WantedVersion.NEWEST.get(6));
        assertThat(search.run(WantedVersion.parse("3.99,3.5.9"), steps::add).version())
                .hasToString("3.5.9");
        assertThat(cacheFolder).isDirectoryContaining("glob:**/3.6.1");
    }

    @Test
    void whatIsNoVersionIsRefused() {
        for (String wrong : List.of("abc", "3", "4.0", "3.5,", "3.5.1.2")) {
            assertThatThrownBy(() -> WantedVersion.parse(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("such as 3.7 or 3.6.16")
                    .hasMessageContaining(wrong);
        }
    }

    @Test
    void aNamedPathOfAnotherVersionThanTheWantedOneEndsTheSearch() throws IOException {
        Path bin = programs("bin", "3.5.7");
        assertThatThrownBy(() -> new ExplicitPath(bin.toString()).find(WantedVersion.parse("3.7.3,3.6")))
                .isInstanceOf(EtcdNotFoundException.class)
                .hasMessageContaining("version is 3.5.7, required: [3.7.3, 3.6");
    }

    @Test
    void aFailureListsAllThatWasTriedAndWhatToDo() throws IOException {
        Fetched.Source broken = source("a source", target -> {
            throw new NotHereException("it is down");
        });
        Search search = new Search(
                new ExplicitPath((String) null),
                List.of(new SystemPath(programs("a", "3.4.23").toString()), cache, new Fetched(cache, broken)));
        assertThatThrownBy(() -> search.run(ANY, steps::add))
                .isInstanceOf(EtcdNotFoundException.class)
                .hasMessageContaining("UNDERSTUDY_ETCD or -Dunderstudy.etcd: not set")
                .hasMessageContaining("PATH: ")
                .hasMessageContaining("3.4.23")
                .hasMessageContaining("cache " + cacheFolder + ": not cached")
                .hasMessageContaining("a source: it is down")
                .hasMessageContaining("Install etcd");
        assertThat(cacheFolder).isDirectoryNotContaining("glob:**/.fetching-*");
    }

    /** Invariant L2: what differs from its record is not used but replaced. */
    @Test
    void aDamagedCacheIsNotUsedButReplaced() throws Exception {
        Fetched.Source good = source("good", target -> write(target, "3.5.8"));
        EtcdBinaries installed = cache.install(ANY.get(0), good, steps::add);
        assertThat(cache.look(ANY.get(0), steps::add)).isEqualTo(installed);

        write(cacheFolder.resolve("3.5.8"), "3.5.9");
        assertThatThrownBy(() -> cache.look(ANY.get(0), steps::add))
                .isInstanceOf(NotHereException.class)
                .hasMessageContaining("differs from the installed file");

        assertThat(cache.install(ANY.get(0), good, steps::add)).isEqualTo(installed);
        assertThat(cache.look(ANY.get(0), steps::add)).isEqualTo(installed);
    }

    @Test
    void ofManyThatInstallAtOnceOneFetchesAndTheOthersWait() {
        AtomicInteger fetches = new AtomicInteger();
        Fetched.Source counted = source("counted", target -> {
            fetches.incrementAndGet();
            write(target, "3.5.8");
        });
        List<CompletableFuture<EtcdBinaries>> installs = new ArrayList<>();
        for (int count = 0; count < 4; count++) {
            installs.add(CompletableFuture.supplyAsync(() -> install(counted), task -> new Thread(task).start()));
        }
        assertThat(installs)
                .allSatisfy(install -> assertThat(install.join().version()).hasToString("3.5.8"));
        assertThat(fetches).hasValue(1);
    }

    @Test
    void aReleaseIsInstalledOnlyIfItsChecksumIsTheExpectedOne() throws Exception {
        String name = "etcd-v3.5.30-linux-amd64";
        Path unpacked = Files.createDirectories(folder.resolve(name));
        write(unpacked, "3.5.30");
        Files.copy(unpacked.resolve("etcdctl"), unpacked.resolve("etcdutl"));
        Path archive = folder.resolve("archive.tar.gz");
        Command.of(List.of("tar", "-czf", archive.toString(), "-C", folder.toString(), name))
                .run(Duration.ofSeconds(20));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v3.5.30/", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            Files.copy(archive, exchange.getResponseBody());
            exchange.close();
        });
        server.start();
        try {
            URI base = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
            assertThatThrownBy(() -> cache.install(ANY.get(0), release(base, "00"), steps::add))
                    .isInstanceOf(NotHereException.class)
                    .hasMessageContaining("expected 00");
            assertThat(cacheFolder).isDirectoryNotContaining("glob:**/3.5.30");
            EtcdBinaries installed = cache.install(ANY.get(0), release(base, Manifest.sha256(archive)), steps::add);
            assertThat(installed.version()).hasToString("3.5.30");
            assertThat(installed.etcdutl()).isExecutable();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aReleaseThatIsOutOfReachIsGivenUp() {
        assertThatThrownBy(
                        () -> cache.install(ANY.get(0), release(URI.create("http://127.0.0.1:1/"), "00"), steps::add))
                .isInstanceOf(NotHereException.class)
                .hasMessageContaining("is unreachable");
    }

    private static OfficialRelease release(URI base, String sha256) {
        return new OfficialRelease(base, Map.of("amd64", sha256, "arm64", sha256));
    }

    private EtcdBinaries install(Fetched.Source source) {
        try {
            return cache.install(ANY.get(0), source, steps::add);
        } catch (NotHereException e) {
            throw new IllegalStateException(e);
        }
    }

    private Path programs(String name, String version) throws IOException {
        Path bin = Files.createDirectories(folder.resolve(name));
        write(bin, version);
        return bin;
    }

    /** Programs that only print their version. */
    private static void write(Path bin, String version) throws IOException {
        for (String program : List.of("etcd", "etcdctl")) {
            Path file = Files.writeString(bin.resolve(program), "#!/bin/sh\necho etcd Version: " + version + "\n");
            if (!file.toFile().setExecutable(true)) {
                throw new IOException("cannot make " + file + " executable");
            }
        }
    }

    private interface Fetch {
        void into(Path target) throws NotHereException, IOException;
    }

    private static Fetched.Source source(String name, Fetch fetch) {
        return new Fetched.Source() {
            @Override
            public String describe() {
                return name;
            }

            @Override
            public boolean has(WantedVersion wanted) {
                return true;
            }

            @Override
            public void fetch(WantedVersion wanted, Path target, Consumer<String> progress) throws NotHereException {
                try {
                    fetch.into(target);
                } catch (IOException e) {
                    throw new NotHereException(e.toString(), e);
                }
            }
        };
    }
}
