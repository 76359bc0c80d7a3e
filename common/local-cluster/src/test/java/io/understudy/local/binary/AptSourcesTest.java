package io.understudy.local.binary;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.local.binary.DebianPackages.AptSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AptSourcesTest {

    @TempDir
    Path apt;

    @Test
    void bothFormatsAreReadAndOnlyArchivesOfDebianItselfCount() throws IOException {
        Files.writeString(apt.resolve("sources.list"), """
                # a comment
                deb http://mirror.example/debian bookworm main contrib
                deb-src http://mirror.example/debian bookworm main
                deb [arch=amd64 signed-by=/keys/one.gpg] https://other.example/debian/ bookworm main
                deb http://mirror.example/debian-security bookworm-security main
                deb http://mirror.example/ubuntu noble main
                deb http://mirror.example/debian bookworm-updates main
                """);
        Files.createDirectories(apt.resolve("sources.list.d"));
        Files.writeString(apt.resolve("sources.list.d").resolve("debian.sources"), """
                Types: deb deb-src
                # where it was made from
                URIs: http://third.example/debian http://fourth.example/debian
                Suites: bookworm
                Components: main non-free
                Signed-By: /keys/two.gpg

                Enabled: no
                Types: deb
                URIs: http://disabled.example/debian
                Suites: bookworm
                Components: main

                Types: deb
                URIs: http://source.example/debian
                Suites: bookworm
                Components: contrib
                """);
        Files.writeString(
                apt.resolve("sources.list.d").resolve("ignored.list.disabled"), "deb http://no.example/debian x main");

        assertThat(AptSources.archives(apt))
                .containsExactly(
                        new AptSources.Archive("http://mirror.example/debian", Optional.empty()),
                        new AptSources.Archive("https://other.example/debian/", Optional.of("/keys/one.gpg")),
                        new AptSources.Archive("http://third.example/debian", Optional.of("/keys/two.gpg")),
                        new AptSources.Archive("http://fourth.example/debian", Optional.of("/keys/two.gpg")));
    }

    @Test
    void aLineForAnotherSuiteKeepsAddressAndKeys() {
        assertThat(new AptSources.Archive("http://m.example/debian", Optional.of("/k.gpg")).line("forky"))
                .isEqualTo("deb [signed-by=/k.gpg] http://m.example/debian forky main");
        assertThat(new AptSources.Archive("http://m.example/debian", Optional.empty()).line("forky"))
                .isEqualTo("deb http://m.example/debian forky main");
    }

    @Test
    void aMachineWithoutAptHasNoArchives() throws IOException {
        assertThat(AptSources.archives(apt.resolve("missing"))).isEmpty();
    }
}
