package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The release script in a repository of its own, with a Maven that only makes files of the names that it is to make. */
@Timeout(60)
@Tag("distribution")
final class ReleaseIT {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final String MAVEN = """
            #!/bin/sh
            set -e
            version=$(sed -n 's|^  <version>\\(.*\\)</version>|\\1|p' pom.xml)
            for module in common/main common/local-cluster/main gateway/main mirror/main mirror/kafka-consumer; do
              mkdir -p "$module/target"
              for kind in "" -sources -javadoc; do
                echo jar >"$module/target/understudy-$(echo $module | tr / -)-$version$kind.jar"
              done
            done
            built=deploy/dist/target
            mkdir -p "$built/understudy-$version/understudy-$version/helm/understudy"
            echo chart >"$built/understudy-$version/understudy-$version/helm/understudy/Chart.yaml"
            for file in "understudy-$version/understudy-$version/understudy.cdx.json" "understudy-$version.tar.gz" \\
              "understudy_${version}_all.deb" "understudy-$version-1.noarch.rpm"; do
              echo built >"$built/$file"
            done
            echo "maven $*"
            """;

    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    @TempDir
    private Path folder;

    private Path checkout;

    /** What gpg reads and writes. */
    private Path gnupg;

    private String signer = "sign";

    /** A run of a program. */
    private record Ended(int status, String output) {}

    @BeforeEach
    void makeRepository() throws Exception {
        checkout = Files.createDirectory(folder.resolve("checkout"));
        gnupg = Files.createDirectory(folder.resolve("maintainer"), PRIVATE);
        try (Stream<Path> files = Files.walk(ROOT)) {
            for (Path file : files.filter(
                            each -> each.endsWith("pom.xml") && !each.toString().contains("/target/"))
                    .toList()) {
                copy(ROOT.relativize(file));
            }
        }
        for (String file : List.of(
                ".gitignore",
                "README.md",
                "SECURITY.md",
                "docs/install.md",
                "docs/library.md",
                "deploy/dist/release")) {
            copy(Path.of(file));
        }
        Files.writeString(
                checkout.resolve("CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n");
        for (Map.Entry<String, String> program : Map.of("mvn", MAVEN, "sign", "#!/bin/sh\necho signed >\"$1.asc\"\n")
                .entrySet()) {
            Path file = Files.createDirectories(folder.resolve("bin")).resolve(program.getKey());
            Files.writeString(file, program.getValue());
            assertThat(file.toFile().setExecutable(true)).isTrue();
        }
        git("init", "--quiet");
        git("add", "--all");
        git("commit", "--quiet", "--message", "Begin");
    }

    @Test
    void aReleaseIsTaggedWithItsFiles() throws Exception {
        Ended release = release("0.1.0");
        assertThat(release.status()).as(release.output()).isZero();
        assertThat(release.output())
                .contains(
                        "maven -B -Prelease clean package -DskipTests", "release: tagged v0.1.0", "git push --atomic");

        assertThat(git("show", "v0.1.0:CHANGELOG.md"))
                .containsPattern("## Unreleased\n\n## 0\\.1\\.0, 20\\d\\d-\\d\\d-\\d\\d\n\n### Added\n\n- A thing\\.");
        assertThat(git("show", "v0.1.0:docs/library.md")).contains("the version `0.1.0`");
        for (String page : List.of("README.md", "docs/install.md", "docs/library.md")) {
            assertThat(git("show", "v0.1.0:" + page))
                    .contains("The latest release is 0.1.0.")
                    .doesNotContain("No release", "not released");
            assertThat(git("show", "HEAD:" + page)).contains("The latest release is 0.1.0.");
        }
        assertThat(git("grep", "--fixed-strings", "SNAPSHOT", "v0.1.0", "--", "*pom.xml"))
                .isEmpty();
        assertThat(git("grep", "--fixed-strings", "<version>0.2.0-SNAPSHOT</version>", "HEAD", "--", "*pom.xml")
                        .lines())
                .hasSameSizeAs(git("ls-files", "*pom.xml").lines().toList());
        assertThat(git("status", "--porcelain")).isEmpty();

        Path files = checkout.resolve("target/release");
        assertThat(files.resolve("NOTES.md")).hasContent("### Added\n\n- A thing.\n");
        assertThat(files.resolve("SHA256SUMS.asc")).hasContent("signed\n");
        assertThat(run(files, "sha256sum", "--check", "--strict", "SHA256SUMS").output())
                .contains(
                        "understudy-0.1.0.tar.gz: OK",
                        "understudy_0.1.0_all.deb: OK",
                        "understudy-0.1.0-1.noarch.rpm: OK",
                        "understudy-0.1.0.cdx.json: OK",
                        "understudy-chart-0.1.0.tgz: OK",
                        "understudy-mirror-kafka-consumer-0.1.0-javadoc.jar: OK",
                        "NOTES.md: OK");
    }

    /** By the commands of docs/install.md. */
    @Test
    void usersVerifyASignedRelease() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/gpg")), "needs gpg");
        List<String> keys = List.of(generatedKey("first@example.org"), generatedKey("second@example.org"));
        signer = "gpg --batch --armor --local-user first@example.org --detach-sign";
        Ended release = release("0.1.0");
        assertThat(release.status()).as(release.output()).isZero();
        assertThat(git("show", "v0.1.0:SECURITY.md"))
                .contains("\nThe key has the fingerprint `" + keys.get(0) + "`.\n");

        signer = signer.replace("first", "second");
        Files.writeString(checkout.resolve("CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- Another thing.\n");
        git("commit", "--quiet", "--all", "--message", "Change it");
        assertThat(release("0.2.0", "--dry-run").output()).contains("another fingerprint", keys.get(1));

        signer = signer.replace("second", "first");
        assertThat(release("0.2.0", "--dry-run").status()).isZero();
        run(folder, "gpgconf", "--kill", "all");
        gnupg = Files.createDirectory(folder.resolve("user"), PRIVATE);
        Path files = checkout.resolve("target/release");
        run(files, "gpg", "--batch", "--import", "understudy-signing-key.asc");
        assertThat(run(files, "gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS")
                        .output())
                .contains("Good signature")
                .containsPattern("Primary key fingerprint: [0-9A-F ]+");
        run(folder, "gpgconf", "--kill", "all");
    }

    /** Its fingerprint. */
    private String generatedKey(String user) throws Exception {
        run(folder, "gpg", "--batch", "--passphrase", "", "--quick-generate-key", user, "ed25519", "sign");
        return run(folder, "gpg", "--batch", "--with-colons", "--list-keys", user)
                .output()
                .lines()
                .filter(line -> line.startsWith("fpr:"))
                .map(line -> line.split(":", -1)[9])
                .findFirst()
                .orElseThrow();
    }

    /** What Maven Central requires of the jars; the rest is inherited. */
    @Test
    void publishedModulesHaveNameDescriptionAndTheAddressOfTheRelease() throws Exception {
        assertThat(release("0.1.0").status()).isZero();

        assertThat(git("show", "v0.1.0:pom.xml"))
                .contains("<repository.url>https://host.example/understudy</repository.url>")
                .containsPattern("<project [^>]*child.project.url.inherit.append.path=\"false\"")
                .contains("  <url>${repository.url}</url>", "<licenses>", "<developers>", "<scm ");
        for (String module : List.of(
                "common/main", "common/local-cluster/main", "gateway/main", "mirror/main", "mirror/kafka-consumer")) {
            assertThat(git("show", "v0.1.0:" + module + "/pom.xml"))
                    .containsPattern("\n  <name>.+</name>\n  <description>.+</description>\n");
        }
    }

    @Test
    void aDryRunLeavesTheCheckoutAsItWas() throws Exception {
        String before = git("rev-parse", "HEAD");
        Ended release = release("0.1.0", "--dry-run");
        assertThat(release.status()).as(release.output()).isZero();
        assertThat(checkout.resolve("target/release/SHA256SUMS")).isRegularFile();
        assertThat(git("rev-parse", "HEAD")).isEqualTo(before);
        assertThat(git("tag")).isEmpty();
        assertThat(git("status", "--porcelain")).isEmpty();
    }

    @Test
    void whatCannotBeReleasedIsRefused() throws Exception {
        assertThat(release("1.0"))
                .isEqualTo(new Ended(2, "release: the version must be MAJOR.MINOR.PATCH, but is '1.0'\n"));
        git("tag", "v0.1.0");
        assertThat(release("0.1.0").output()).isEqualTo("release: the tag v0.1.0 exists\n");
        Files.writeString(checkout.resolve("CHANGELOG.md"), "# Changelog\n\n## Unreleased\n");
        assertThat(release("0.2.0").output()).contains("the checkout has changes");
        git("commit", "--quiet", "--all", "--message", "Empty the changelog");
        assertThat(release("0.2.0").output()).contains("Unreleased of CHANGELOG.md is empty");
    }

    private void copy(Path file) throws IOException {
        Path to = checkout.resolve(file);
        Files.createDirectories(to.getParent());
        Files.copy(ROOT.resolve(file), to, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private Ended release(String... arguments) throws Exception {
        return run(
                checkout,
                Stream.concat(Stream.of("deploy/dist/release"), Stream.of(arguments))
                        .toArray(String[]::new));
    }

    /** The output; grep without a match has none. */
    private String git(String... arguments) throws Exception {
        return run(
                        checkout,
                        Stream.concat(Stream.of("git"), Stream.of(arguments)).toArray(String[]::new))
                .output();
    }

    private Ended run(Path directory, String... line) throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder(line).directory(directory.toFile()).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.keySet().removeIf(name -> name.startsWith("GIT_") || name.startsWith("RELEASE_"));
        environment.put("PATH", folder.resolve("bin") + ":" + environment.get("PATH"));
        environment.put("RELEASE_SIGN", signer);
        environment.put("GNUPGHOME", gnupg.toString());
        environment.put("RELEASE_URL", "https://host.example/understudy");
        for (String role : List.of("AUTHOR", "COMMITTER")) {
            environment.put("GIT_" + role + "_NAME", "Test");
            environment.put("GIT_" + role + "_EMAIL", "test@example.org");
        }
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Ended(process.exitValue(), output);
    }
}
