package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Client libraries receive the same answers from etcd and from a gateway that forwards writes.
 *
 * <p>Each library has a folder in {@code src/test/clients}, copied to the user's cache before its first run. {@code fetch}
 * installs the pinned versions there, and ends with status 77 where a tool or its registry is missing. {@code run} uses the
 * library at an endpoint. It prints the name and version of the library, then one line per step: a section, a number, a
 * result. The compatibility page lists libraries and sections.
 *
 * <p>Tests invariant A1b.
 */
@Timeout(900)
final class ClientLibrariesIT {

    @RegisterExtension
    static final EtcdExtension DIRECT = EtcdExtension.voters(1).own();

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).own();

    private static final Path LIBRARIES = Path.of("src/test/clients");
    private static final Path CACHE = Path.of(System.getProperty("user.home"), ".cache", "understudy", "clients");
    private static final Duration FETCH = Duration.ofMinutes(10);
    private static final Duration RUN = Duration.ofMinutes(2);

    private static final Pattern DIFFERENT =
            Pattern.compile("(?i)((?:member_?id|raft_?term)[\"']?\\s*[:=]\\s*[\"']?)-?\\w+");
    private static final Pattern ID =
            Pattern.compile("(?<![\\w-])(?:(?<decimal>-?\\d{17,20})|(?<hexadecimal>[0-9a-f]{13,16}))(?!\\w)");
    private static final Pattern REVISION =
            Pattern.compile("(?i)((?:\\brev|_rev|\\bcreate|\\bmod|revision)\\w*[\"']?[=: ]+[\"']?)(\\d+)");

    private static GatewayFixture fixture;

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(
                GatewayFixture.VERSION.atLeast(3, 7, 0),
                "skipped, since the programs also use what etcd before 3.7 lacks");
        fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
        fixture.awaitReady();
    }

    @AfterAll
    static void stop() {
        if (fixture != null) {
            fixture.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"go", "etcd3"})
    void twoReceiveTheSameAnswers(String library) throws Exception {
        Path installed = installed(LIBRARIES.resolve(library));
        CompletableFuture<String> expected = CompletableFuture.supplyAsync(
                () -> run(installed, DIRECT.cluster().clientUrls().get(0).getAuthority()));
        String actual = run(installed, "127.0.0.1:" + fixture.gateway.apiPort());
        assertThat(actual).isEqualTo(expected.get());
        assertThat(Files.readString(Path.of("../docs/compatibility.md"))).contains(row(actual));
    }

    @AfterEach
    void deleteAll() {
        SOURCE.cluster().etcdctl("del", "--from-key", "");
        DIRECT.cluster().etcdctl("del", "--from-key", "");
    }

    @ParameterizedTest
    @MethodSource
    @Tag("variants")
    void othersReceiveTheSameAnswers(String library) throws Exception {
        twoReceiveTheSameAnswers(library);
    }

    static List<String> othersReceiveTheSameAnswers() throws IOException {
        try (Stream<Path> folders = Files.list(LIBRARIES)) {
            return folders.map(folder -> folder.getFileName().toString())
                    .filter(name -> !List.of("go", "etcd3").contains(name))
                    .sorted()
                    .toList();
        }
    }

    private static Path installed(Path library) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(library)) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        int hash = 0;
        for (Path file : files) {
            hash = 31 * hash + Arrays.hashCode(Files.readAllBytes(file));
        }
        Path home = CACHE.resolve(library.getFileName() + "-" + Integer.toHexString(hash));
        if (Files.isDirectory(home)) {
            return home;
        }
        // Into a folder of its own first, so that an existing one is complete.
        Files.createDirectories(CACHE);
        Path fetched = Files.createTempDirectory(CACHE, "fetching");
        for (Path file : files) {
            Path copy = fetched.resolve(library.relativize(file).toString());
            Files.createDirectories(copy.getParent());
            Files.copy(file, copy);
        }
        try {
            Command.of(List.of("bash", "fetch")).in(fetched).run(FETCH);
            Files.move(fetched, home);
        } catch (CommandFailedException e) {
            assumeFalse(
                    String.valueOf(e.getMessage()).contains("ended with status 77:"),
                    () -> "skipped, since the library is not here: " + e.getMessage());
            throw e;
        } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
            // Another build was faster.
        }
        return home;
    }

    /** Revisions are relative to the first one, and ids are numbered as they appear. */
    private static String run(Path installed, String endpoint) {
        String printed = Command.of(List.of("bash", "run", endpoint))
                .in(installed)
                .with("TEST_CLASSPATH", System.getProperty("java.class.path"))
                .run(RUN);
        Map<Long, Integer> ids = new HashMap<>();
        String common = DIFFERENT.matcher(printed).replaceAll("$1…");
        String numbered = ID.matcher(common).replaceAll(id -> {
            // A negative number is the same 64 bits.
            long value = id.group(1) == null
                    ? Long.parseUnsignedLong(id.group(2), 16)
                    : new BigInteger(id.group(1)).longValue();
            return "id" + ids.computeIfAbsent(value, unused -> ids.size() + 1);
        });
        long[] first = {0};
        return REVISION.matcher(numbered).replaceAll(revision -> {
            long value = Long.parseLong(revision.group(2));
            first[0] = first[0] == 0 ? value : first[0];
            return revision.group(1) + (value < first[0] ? value : "+" + (value - first[0]));
        });
    }

    /** As the compatibility page has it. */
    private static String row(String printed) {
        String sections = printed.lines()
                .skip(1)
                .map(line -> line.replaceFirst(" \\d+: .*", ""))
                .distinct()
                .collect(Collectors.joining(", "));
        return printed.lines().findFirst().orElseThrow().replaceFirst("client: (.*)", "| $1 |") + " " + sections + " |";
    }
}
