package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What keeps a process from starting is found in its configuration by {@code config check}. */
@Timeout(60)
final class ConfigCheckTest {

    private static final String SOURCE = "source: {endpoints: \"http://127.0.0.1:1\"}\n";

    @TempDir
    private Path folder;

    private StringWriter out = new StringWriter();

    @BeforeEach
    void issueCertificates() {
        String pki = "--dir=" + folder;
        for (String[] arguments : new String[][] {
            {"pki", "init", pki},
            {"pki", "issue", "server", pki, "--host=127.0.0.1", "--for=server,client"},
            {"pki", "issue", "named", pki, "--common-name=alice", "--for=client"}
        }) {
            assertThat(Commands.run(out, arguments)).as("%s", out).isZero();
        }
        out = new StringWriter();
    }

    @Test
    void filesAndAddressesAreThoseOfTheStart_allAtOnce() throws Exception {
        Files.writeString(folder.resolve("damaged.crt"), "nothing");

        // The address is of no machine.
        assertThat(check("gateway.yaml", """
                listen: 192.0.2.1:2379
                rest: {listen: "127.0.0.1:0"}
                tls: {certificate: "%1$s/server.crt", key: "%1$s/none.key"}
                source:
                  endpoints: https://127.0.0.1:1
                  tls: {trusted: "%1$s/damaged.crt", certificate: "%1$s/named.crt", key: "%1$s/named.key"}
                dashboard: {tls: {trusted: "%1$s/none.crt"}}
                """)).isEqualTo(1);
        assertThat(out.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).contains(": listen cannot listen on 192.0.2.1:2379: "),
                        line -> assertThat(line).contains(": tls " + folder + "/none.key: no such file"),
                        line -> assertThat(line).contains(": dashboard.tls " + folder + "/none.crt: no such file"),
                        line -> assertThat(line).contains(": source.tls " + folder + "/damaged.crt: "),
                        line -> assertThat(line)
                                .contains(": source.tls " + folder + "/named.crt: its common name is 'alice'"));
    }

    @Test
    void eachMirrorIsChecked() throws Exception {
        assertThat(check("mirror.yaml", """
                status: {listen: "127.0.0.1:0"}
                mirrors:
                  good: {source: {endpoints: "http://127.0.0.1:1"}, target: {etcd: {endpoints: "http://127.0.0.1:2"}}}
                  bad:
                    source: {endpoints: "https://127.0.0.1:1", tls: {trusted: "%1$s/none.crt"}}
                    target: {etcd: {endpoints: "https://127.0.0.1:3", tls: {trusted: "%1$s/none.crt"}}}
                """)).isEqualTo(1);
        assertThat(out.toString())
                .hasLineCount(2)
                .contains("mirrors.bad.source.tls " + folder + "/none.crt: no such file")
                .contains("mirrors.bad.target.etcd.tls " + folder + "/none.crt: no such file");
    }

    @Test
    void aSupervisorIsChecked() throws Exception {
        assertThat(check("cluster.yaml", """
                cluster: {endpoints: "https://127.0.0.1:1", tls: {trusted: "%1$s/ca.crt"}}
                supervisor: {listen: "127.0.0.1:0", tls: {certificate: "%1$s/server.crt", key: "%1$s/named.key"}}
                """)).isEqualTo(1);
        assertThat(out.toString()).hasLineCount(1).contains(": supervisor.tls ", "named.key");
    }

    @Test
    void anAddressInUseMayBeThatOfTheRunningProcess() throws Exception {
        try (ServerSocket running = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(check(
                            "gateway.yaml",
                            "listen: 127.0.0.1:" + running.getLocalPort() + "\nrest: {listen: \"127.0.0.1:0\"}\n"
                                    + SOURCE))
                    .as("%s", out)
                    .isZero();
            assertThat(out.toString())
                    .contains("note: ", "listen: 127.0.0.1:" + running.getLocalPort() + " is in use", "ok: ");
        }
    }

    /** systemd shows them to a running unit only. */
    @Test
    void aCredentialOfAUnitIsNotVerified() throws Exception {
        String configuration = """
                listen: 127.0.0.1:0
                rest: {listen: "127.0.0.1:0"}
                tls: {certificate: "%1$s/server.crt", key: /run/credentials/understudy-gateway.service/key}
                source:
                  endpoints: http://127.0.0.1:1
                  user: gateway
                  passwordFile: /run/credentials/understudy-gateway.service/source
                """;
        assertThat(check("gateway.yaml", configuration)).as("%s", out).isZero();
        assertThat(out.toString())
                .contains("source.passwordFile: /run/credentials/understudy-gateway.service/source not verified")
                .contains("tls: /run/credentials/understudy-gateway.service/key not verified")
                .contains("ok: ");

        assertThat(check("gateway.yaml", configuration + "watches: {maxWatchers: none}\n"))
                .isEqualTo(1);
        assertThat(check("gateway.yaml", configuration, "--connect", "--output=json"))
                .isZero();
        JsonNode notes = new JsonMapper()
                .readTree(out.toString().substring(out.toString().indexOf('[')))
                .path(0)
                .path("notes");
        assertThat(notes.toString()).contains("not connected");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gateway.yaml | source: {kafka: {bootstrap.servers: \"127.0.0.1:1\", topic: t}} | source.kafka: no response from 127.0.0.1:1",
                "mirror.yaml | mirrors: {log: {source: {endpoints: \"http://127.0.0.1:1\"}, target: {kafka: {bootstrap.servers: \"127.0.0.1:1\", topic: t}}}} | mirrors.log.target.kafka: no response from 127.0.0.1:1",
                "cluster.yaml | cluster: {endpoints: \"http://127.0.0.1:1\"} | 127.0.0.1:1"
            })
    void allThatAConfigurationNamesIsConnectedTo(String name, String configuration, String expected) throws Exception {
        assertThat(check(name, configuration + "\n", "--connect", "--timeout=1s"))
                .isEqualTo(1);
        assertThat(out.toString()).contains(expected).doesNotContain("ok: ");
    }

    private int check(String name, String configuration, String... flags) throws IOException {
        Path file = Files.writeString(folder.resolve(name), configuration.replace("%1$s", folder.toString()));
        out = new StringWriter();
        String[] arguments = new String[flags.length + 3];
        arguments[0] = "config";
        arguments[1] = "check";
        arguments[2] = file.toString();
        System.arraycopy(flags, 0, arguments, 3, flags.length);
        return Commands.run(out, arguments);
    }
}
