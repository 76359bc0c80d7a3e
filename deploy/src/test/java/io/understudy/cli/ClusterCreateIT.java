package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster with TLS and authentication, from its first member on. */
final class ClusterCreateIT {

    private static final Duration COMMAND = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    private final FreePorts ports = FreePorts.take(4);
    private Path pki;
    private Path password;
    private Path file;
    private String text = "";

    @BeforeEach
    void configure() throws IOException {
        pki = folder.resolve("pki");
        assertThat(run("pki", "init", "--dir=" + pki)).as(text).isZero();
        assertThat(run("pki", "issue", "member", "--dir=" + pki, "--host=127.0.0.1", "--for=server,client"))
                .as(text)
                .isZero();
        password = Files.writeString(folder.resolve("root.password"), "secret\n");
        file = Files.writeString(
                folder.resolve("cluster.yaml"), """
                cluster:
                  endpoints: 'https://127.0.0.1:%d'
                  tls: {trusted: '%s/ca.crt'}
                machines:
                """.formatted(ports.get(0), pki) + machine(1) + machine(2));
    }

    private String machine(int number) {
        return """
                  m%1$d:
                    peerUrls: 'https://127.0.0.1:%2$d'
                    clientUrls: 'https://127.0.0.1:%3$d'
                    process: local
                    dataDirectory: '%4$s/m%1$d'
                    arguments: [--cert-file=%5$s/member.crt, --key-file=%5$s/member.key,
                      --peer-cert-file=%5$s/member.crt, --peer-key-file=%5$s/member.key,
                      --peer-trusted-ca-file=%5$s/ca.crt, --peer-client-cert-auth=true]
                """.formatted(number, ports.get(2 * number - 1), ports.get(2 * number - 2), folder, pki);
    }

    @AfterEach
    void stop() throws Exception {
        try (ClusterConnection cluster = new ClusterConnection(ClusterSettings.load(file, Map.of(), Map.of()), true)) {
            Machines machines = cluster.machines(line -> {});
            for (MemberSpec member : cluster.places()) {
                machines.stop(member);
            }
        }
        ports.close();
    }

    @Test
    void aClusterIsCreatedAndGrows() {
        assertThat(cluster("create", "m1", "--auth")).as(text).isZero();
        assertThat(text).contains("done: cluster ", "1 voter, 1 healthy");
        assertThat(etcdctl("auth", "status")).contains("Authentication Status: true");
        String first = etcdctl("member", "list");

        assertThat(cluster("create", "m1", "--auth"))
                .as("nothing is created twice")
                .isEqualTo(1);
        assertThat(text).contains("refused (member-stopped): m1 is running");

        assertThat(cluster("add", "m2", "--promote=never")).as(text).isZero();
        assertThat(cluster("promote", "m2")).as(text).isZero();
        assertThat(cluster("status")).as(text).isZero();
        assertThat(text).contains("2 voters, 2 healthy");
        assertThat(etcdctl("member", "list").lines()).hasSize(2).contains(first.strip());
    }

    /** Its own requests fail for want of the authority, and those of clients do not. */
    @Test
    void whatClientsWroteIsKeptIfTheStartFails() throws Exception {
        assertThat(run("pki", "init", "--dir=" + folder.resolve("other")))
                .as(text)
                .isZero();
        Files.writeString(file, Files.readString(file).replace(pki + "/ca.crt'}", folder + "/other/ca.crt'}"));
        AtomicReference<Thread> thread = new AtomicReference<>();
        CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> {
            thread.set(Thread.currentThread());
            return run("cluster", "create", "m1", "--config=" + file);
        });
        await().atMost(COMMAND)
                .ignoreExceptionsMatching(CommandFailedException.class::isInstance)
                .until(() -> etcdctl("put", "key", "acknowledged").contains("OK"));

        thread.get().interrupt();

        assertThat(status).succeedsWithin(COMMAND).isEqualTo(1);
        assertThat(text).contains("m1 does not run, and its files were deleted but its data, now in ");
        assertThat(new DataDirectory(folder.resolve("m1")).earlier())
                .singleElement()
                .satisfies(
                        kept -> assertThat(new DataDirectory(kept).hasMember()).isTrue());
    }

    private int cluster(String... arguments) {
        int status = run(Stream.concat(
                        Stream.concat(Stream.of("cluster"), Stream.of(arguments)),
                        Stream.of("--config=" + file, "--user=root", "--password-file=" + password))
                .toArray(String[]::new));
        assertThat(text).doesNotContain("secret");
        return status;
    }

    private int run(String... arguments) {
        StringWriter written = new StringWriter();
        int status = Commands.run(written, arguments);
        text = written.toString();
        return status;
    }

    private String etcdctl(String... arguments) {
        return Command.of(Stream.concat(
                                Stream.of(
                                        EtcdBinaries.find().etcdctl().toString(),
                                        "--endpoints=https://127.0.0.1:" + ports.get(0),
                                        "--cacert=" + pki.resolve("ca.crt"),
                                        "--user=root:secret"),
                                Stream.of(arguments))
                        .toList())
                .run(COMMAND);
    }
}
