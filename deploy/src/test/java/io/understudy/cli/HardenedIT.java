package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.local.process.FreePorts;
import io.understudy.pki.PkiDirectory;
import io.understudy.pki.Subject;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The distribution as one would harden it. */
@Timeout(180)
@Tag("distribution")
final class HardenedIT {

    private static final Path HOME =
            Path.of(System.getProperty("understudy.distribution")).toAbsolutePath();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Where the distribution is inside: it may have been built below /tmp. */
    private static final String INSIDE = "/mnt";

    /** As in a container with a read-only root file system, a /tmp of its own, and an unprivileged user. */
    private static final String READ_ONLY = """
            set -e
            mount --make-rprivate /
            mount --bind "$1" /mnt
            shift
            for each in $(awk '$2 !~ "^/(proc|sys|dev)" {print $2}' /proc/mounts | sort -u); do
              mount -o remount,bind,ro "$each" || true
            done
            mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs /tmp
            exec setpriv --reuid=65532 --regid=65532 --clear-groups --no-new-privs "$@"
            """;

    @TempDir
    private Path folder;

    @Test
    void runsWithoutRootFromAFileSystemThatCanNotBeWritten() throws Exception {
        Assumptions.assumeTrue(canUnshare(), "needs root, unshare and setpriv");
        for (String command : List.of("gateway", "mirror")) {
            String address = command.equals("gateway") ? "listen" : "status.listen";
            List<String> line =
                    new ArrayList<>(List.of("unshare", "--mount", "sh", "-c", READ_ONLY, "sh", HOME.toString()));
            line.addAll(List.of(INSIDE + "/bin/understudy", command));
            line.add("--config=" + INSIDE + "/conf/" + command + ".yaml");
            line.addAll(List.of("--set", address + "=127.0.0.1:0"));
            Path log = folder.resolve(command + ".log");
            Process process = start(line, log);
            try {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(log).content().containsAnyOf("gateway listening", "started"));
                assertThat(Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")))
                        .anyMatch(fact -> fact.matches("Uid:\\s+65532\\s+65532.*"));
            } finally {
                process.destroy();
                assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            }
            assertThat(log).content().doesNotContain("Exception");
        }
    }

    private static boolean canUnshare() throws InterruptedException {
        try {
            return new ProcessBuilder("unshare", "--mount", "setpriv", "--reuid=65532", "true")
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void noClientHasItShakeHandsAgainAndAgain() throws Exception {
        Path pki = folder.resolve("pki");
        PkiDirectory directory = new PkiDirectory(pki);
        var authority = directory.init("Test", 0, Duration.ofDays(1));
        var own = directory.issue(
                "own", new Subject(null, List.of("127.0.0.1"), EnumSet.of(Subject.Use.SERVER), Duration.ofDays(1)));
        try (FreePorts ports = FreePorts.take(1);
                TlsContext trusting = TlsContext.of(new TlsFiles(authority.certificate(), null, null))) {
            Path log = folder.resolve("gateway.log");
            Process gateway = start(
                    List.of(
                            HOME + "/bin/understudy",
                            "gateway",
                            "--config=" + HOME.resolve("conf/gateway.yaml"),
                            "--set=listen=127.0.0.1:" + ports.get(0),
                            "--set=source.endpoints=http://127.0.0.1:1",
                            "--set=tls.certificate=" + own.certificate(),
                            "--set=tls.key=" + own.key()),
                    log);
            try {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(log).content().contains("gateway listening"));
                SSLContext context =
                        trusting.applyTo(HttpClient.newBuilder()).build().sslContext();
                try (SSLSocket socket =
                        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", ports.get(0))) {
                    socket.setSoTimeout((int) PATIENCE.toMillis());
                    socket.setEnabledProtocols(new String[] {"TLSv1.2"});
                    socket.startHandshake();
                    assertThatThrownBy(() -> {
                                socket.startHandshake();
                                socket.getOutputStream()
                                        .write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
                                                .getBytes(StandardCharsets.US_ASCII));
                                int unused = socket.getInputStream().read();
                                throw new AssertionError("it shook hands again");
                            })
                            .isInstanceOf(IOException.class);
                }
            } finally {
                gateway.destroy();
                assertThat(gateway.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            }
        }
    }

    private static Process start(List<String> line, Path log) throws IOException {
        return new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }
}
