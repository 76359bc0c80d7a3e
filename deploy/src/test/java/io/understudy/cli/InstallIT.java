package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The archive's own {@code install.sh}, into a root of its own, and the units of systemd that it puts there. */
@Timeout(120)
@Tag("distribution")
final class InstallIT {

    private static final Path HOME =
            Path.of(System.getProperty("understudy.distribution")).toAbsolutePath();

    @TempDir
    private Path folder;

    private Path root;

    @BeforeEach
    void prepare() throws IOException {
        root = Files.createDirectory(folder.resolve("root"));
    }

    @Test
    void whatIsInstalledRunsFromTheLinkOnThePath() throws Exception {
        install(HOME, root);
        assertThat(root.resolve("opt/understudy")).isSymbolicLink();
        assertThat(Files.readSymbolicLink(root.resolve("opt/understudy"))).isEqualTo(HOME.getFileName());
        assertThat(Files.readSymbolicLink(root.resolve("usr/local/bin/understudy")))
                .isEqualTo(Path.of("/opt/understudy/bin/understudy"));
        assertThat(run(root.resolve("opt/understudy/bin/understudy").toString(), "--version"))
                .startsWith("understudy ");
        assertThat(root.resolve("etc/understudy/gateway.yaml")).isRegularFile();
        assertThat(root.resolve("etc/understudy/gateway.schema.json")).isRegularFile();
    }

    @Tag("distribution")
    @Test
    void theManualIsLinkedPageByPage() throws Exception {
        install(version("understudy-0.0.1"), root);
        try (Stream<Path> pages = Files.list(HOME.resolve("man"));
                Stream<Path> links = Files.list(root.resolve("usr/local/share/man/man1"))) {
            List<Path> names = pages.map(Path::getFileName).toList();
            assertThat(links)
                    .isNotEmpty()
                    .allSatisfy(link -> assertThat(Files.readSymbolicLink(link))
                            .isEqualTo(Path.of("/opt/understudy/man").resolve(link.getFileName())))
                    .extracting(Path::getFileName)
                    .containsExactlyInAnyOrderElementsOf(names);
        }
    }

    @Test
    void upgradeAndRollbackMoveTheLinkAndKeepTheConfiguration() throws Exception {
        Path older = version("understudy-0.0.1");
        Path newer = version("understudy-0.0.2");
        install(older, root);
        Path configuration = root.resolve("etc/understudy/gateway.yaml");
        Files.writeString(configuration, "# ours\n");

        install(newer, root);
        assertThat(root.resolve("opt/understudy").toRealPath())
                .isEqualTo(root.resolve("opt/understudy-0.0.2").toRealPath());
        assertThat(configuration).hasContent("# ours\n");
        assertThat(Files.readSymbolicLink(root.resolve("usr/local/share/bash-completion/completions/understudy")))
                .isEqualTo(Path.of("/opt/understudy/completion/understudy.bash"));

        install(root.resolve("opt/understudy-0.0.1"), root);
        assertThat(root.resolve("opt/understudy").toRealPath())
                .isEqualTo(root.resolve("opt/understudy-0.0.1").toRealPath());
        assertThat(root.resolve("opt/understudy-0.0.2")).isDirectory();
        assertThat(configuration).hasContent("# ours\n");
    }

    @Test
    void whatIsRemovedLeavesOnlyTheConfiguration() throws Exception {
        install(version("understudy-0.0.1"), root);
        install(version("understudy-0.0.2"), root);
        run(root.resolve("opt/understudy/install.sh").toString(), "--destdir", root.toString(), "--remove");
        try (Stream<Path> left = Files.walk(root)) {
            assertThat(left.filter(path -> !Files.isDirectory(path))
                            .map(path -> root.relativize(path).toString()))
                    .isNotEmpty()
                    .allMatch(path -> path.startsWith("etc/understudy/"));
        }
    }

    @Test
    void laterRunsUseThePrefixOfTheInstallation() throws Exception {
        String older = version("understudy-0.0.1") + "/install.sh";
        run(older, "--prefix", "/srv/tools", "--destdir", root.toString());
        Path link = root.resolve("srv/tools/understudy");
        for (String newer : List.of("understudy-0.0.2", "understudy-0.0.1")) {
            Path home = root.resolve("srv/tools").resolve(newer);
            run((Files.exists(home) ? home : version(newer)) + "/install.sh", "--destdir", root.toString());
            assertThat(Files.readSymbolicLink(link)).isEqualTo(home.getFileName());
        }
        run(link + "/install.sh", "--destdir", root.toString(), "--remove");
        try (Stream<Path> left = Files.walk(root)) {
            assertThat(left.filter(path -> !Files.isDirectory(path)))
                    .isNotEmpty()
                    .allMatch(path -> path.startsWith(root.resolve("etc/understudy")));
        }
    }

    /** Units with it could not start. */
    @ParameterizedTest
    @ValueSource(strings = {"/opt/my apps", "/opt/a|b", "/opt/a&b", "/opt/a\\b", "/opt/a%h"})
    void aPrefixThatUnitsCannotHaveIsRefused(String prefix) throws Exception {
        Process process = new ProcessBuilder(HOME + "/install.sh", "--prefix", prefix, "--destdir", root.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("--prefix must not contain blanks", prefix);
        assertThat(process.waitFor()).isEqualTo(2);
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void unitsOfAPackageAreNotHidden() throws Exception {
        Path unit = root.resolve("usr/lib/systemd/system/understudy-gateway.service");
        Files.createDirectories(unit.getParent());
        Files.createFile(unit);
        Process process = new ProcessBuilder(
                        HOME + "/install.sh", "--prefix", "/srv/tools", "--destdir", root.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("remove the package first");
        assertThat(process.waitFor()).isEqualTo(1);
        assertThat(root.resolve("srv")).doesNotExist();
    }

    @Test
    void aPackageIsNotReplaced() throws Exception {
        Files.createDirectories(root.resolve("opt/understudy"));
        for (String remove : List.of("", "--remove")) {
            Process process = new ProcessBuilder(
                            "sh", "-c", "\"$0\" --destdir \"$1\" " + remove, HOME + "/install.sh", root + "")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).isEqualTo(1);
            assertThat(output).contains("remove the package first");
        }
        try (Stream<Path> left = Files.list(root.resolve("opt"))) {
            assertThat(left).hasSize(1);
        }
        assertThat(root.resolve("usr")).doesNotExist();
    }

    @Test
    void whatOthersHaveCalledSoStays() throws Exception {
        install(version("understudy-0.0.1"), root);
        Path backups = Files.createDirectories(root.resolve("opt/understudy-backups/bin"));
        Files.writeString(backups.resolve("understudy"), "kept\n");
        run(root.resolve("opt/understudy/install.sh").toString(), "--destdir", root.toString(), "--remove");
        assertThat(backups.resolve("understudy")).hasContent("kept\n");
        assertThat(root.resolve("opt/understudy-0.0.1")).doesNotExist();
    }

    /** Users that run the units are among the readers. */
    @Test
    void installedFilesAreReadableForAllWhateverTheUmask() throws Exception {
        Path secretive = version("understudy-0.0.1");
        run("chmod", "-R", "go-rwx", secretive.toString());
        run("sh", "-c", "umask 077; exec \"$0\" --destdir \"$1\"", secretive + "/install.sh", root.toString());
        try (Stream<Path> installed = Files.walk(root)) {
            assertThat(installed.filter(path -> !path.equals(root) && !Files.isSymbolicLink(path)))
                    .hasSizeGreaterThan(20)
                    .allSatisfy(path -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                            .isIn("rw-r--r--", "rwxr-xr-x"));
        }
        assertThat(root.resolve("opt/understudy/bin/understudy")).isExecutable();
    }

    /** They leave the unit's session, but not its control group. */
    @Test
    void membersOutliveTheSupervisorsUnit() throws Exception {
        assertThat(HOME.resolve("systemd/understudy-supervisor.service"))
                .content()
                .contains("\nKillMode=process\n");
    }

    /** A path that is missing when the supervisor's unit starts stays read-only for it. */
    @Test
    void theDirectoryOfMembersIsMadeForTheirUser() throws Exception {
        install(HOME, root);
        assertThat(root.resolve("etc/sysusers.d/understudy.conf")).content().contains("\nu etcd ");
        assertThat(root.resolve("etc/tmpfiles.d/understudy.conf"))
                .content()
                .contains("\nd /var/lib/etcd 0700 etcd etcd\n");
        assertThat(HOME.resolve("systemd/understudy-supervisor.service"))
                .content()
                .contains(" -/var/lib/etcd\n", "cluster.yaml $SUPERVISE_FLAGS\n");
    }

    @Test
    void systemdFindsNothingWrongWithTheUnits() throws Exception {
        assumeSystemd();
        run(HOME.resolve("install.sh").toString(), "--prefix", "/srv/tools", "--destdir", root.toString());
        Path units = root.resolve("usr/local/lib/systemd/system");
        Files.copy(HOME.resolve("systemd/etcd.service"), units.resolve("etcd.service"));
        // What the units name: programs, and what systemd brings itself.
        for (String program : List.of("usr/bin/etcd", "usr/lib/systemd/system/x")) {
            Files.createDirectories(root.resolve(program).getParent());
        }
        Files.copy(HOME.resolve("bin/understudy"), root.resolve("usr/bin/etcd"), StandardCopyOption.COPY_ATTRIBUTES);
        for (String brought : List.of("sysinit", "basic", "shutdown", "network-online", "multi-user")) {
            Files.writeString(root.resolve("usr/lib/systemd/system/" + brought + ".target"), "[Unit]\nDescription=x\n");
        }
        for (String unit : List.of("understudy-gateway", "understudy-mirror", "understudy-supervisor", "etcd")) {
            assertThat(run("systemd-analyze", "verify", "--man=no", "--root=" + root, unit + ".service"))
                    .as(unit)
                    .isEmpty();
        }
    }

    /** Exposure as {@code systemd-analyze security} counts it, in tenths: 0 is none, 100 is that of root's shell. */
    @ParameterizedTest
    @CsvSource({"understudy-gateway,15", "understudy-mirror,15", "understudy-supervisor,30", "etcd,15"})
    void theUnitsAreHardened(String unit, int atMost) throws Exception {
        assumeSystemd();
        String table = run(
                "systemd-analyze",
                "security",
                "--no-pager",
                "--offline=yes",
                "--threshold=" + atMost,
                HOME.resolve("systemd/" + unit + ".service").toString());
        assertThat(table).contains("Overall exposure level");
    }

    private static void assumeSystemd() throws InterruptedException {
        boolean present;
        try {
            present = new ProcessBuilder("systemd-analyze", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            present = false;
        }
        Assumptions.assumeTrue(present, "needs systemd-analyze");
    }

    private static void install(Path home, Path root) throws Exception {
        assertThat(run(home.resolve("install.sh").toString(), "--destdir", root.toString()))
                .contains("/opt/understudy -> " + home.getFileName());
    }

    /** The distribution under the name of another version, without its libraries. */
    private Path version(String name) throws IOException {
        Path copy = folder.resolve(name);
        try (Stream<Path> files = Files.walk(HOME)) {
            files.filter(file -> !file.startsWith(HOME.resolve("lib"))).forEach(file -> {
                try {
                    Path to = copy.resolve(HOME.relativize(file));
                    if (Files.isDirectory(file)) {
                        Files.createDirectories(to);
                    } else {
                        Files.copy(file, to, StandardCopyOption.COPY_ATTRIBUTES);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        return copy;
    }

    private static String run(String... line) throws Exception {
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
