package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.etcd.EtcdVersion;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands for a cluster with authentication, as a user with the role root, and as users without it.
 *
 * <p>Tests invariant DP17.
 */
final class ClusterAuthIT {

    private static final Duration COMMAND = Duration.ofSeconds(30);
    private static final int MEMBERS = 4;

    @TempDir
    private Path folder;

    private final FreePorts ports = FreePorts.take(2 * MEMBERS);
    private final String etcdctl = EtcdBinaries.find().etcdctl().toString();
    private Path anonymous;
    private Path reader;
    private Path supervisor;
    private String status = "";

    @BeforeEach
    void foundThreeMembersWithAuthentication() throws Exception {
        anonymous = configuration("anonymous", "");
        reader = configuration("reader", user("reader"));
        supervisor = configuration("supervisor", user("supervisor"));
        try (ClusterConnection cluster = connection(anonymous)) {
            machines(cluster).foundAll(cluster.places().subList(0, 3), "auth");
        }
        await().atMost(COMMAND).untilAsserted(() -> {
            int exit = run(anonymous, "status");
            assertThat(exit).as(status).isZero();
            assertThat(status).contains("3 voters, 3 healthy");
        });
        for (String role : List.of("root", "supervisor")) {
            etcdctl("user", "add", role + ":" + password(role));
            etcdctl("user", "grant-role", role, "root");
        }
        etcdctl("user", "add", "reader:" + password("reader"));
        etcdctl("role", "add", "reader");
        etcdctl("role", "grant-permission", "reader", "read", "", "--prefix");
        etcdctl("user", "grant-role", "reader", "reader");
        etcdctl("auth", "enable");
    }

    @AfterEach
    void end() throws Exception {
        try (ClusterConnection cluster = connection(anonymous)) {
            Machines machines = machines(cluster);
            for (MemberSpec member : cluster.places()) {
                machines.stop(member);
            }
        }
        ports.close();
    }

    @Test
    void everyCommandWorksByTheRoleRootAndIsRefusedWithout() throws Exception {
        Path snapshot = Files.createFile(folder.resolve("snapshot.db"));
        for (List<String> command : List.of(
                List.of("status"),
                List.of("create", "m-4"),
                List.of("restore", "--snapshot=" + snapshot),
                List.of("recover", "--from=m-1", "--yes", "--take-over"))) {
            assertThat(run(anonymous, command.toArray(String[]::new)))
                    .as(status)
                    .isEqualTo(1);
            assertThat(status).contains("responds and rejects requests", "user name is empty");
        }
        assertThat(folder.resolve("m-4")).doesNotExist();
        boolean forRoot =
                EtcdVersion.parse(EtcdBinaries.find().version().toString()).statusRequiresRoot();
        // A member may begin with authentication later than the others.
        await().atMost(COMMAND)
                .untilAsserted(
                        () -> assertThat(run(reader, "status")).as(status).isEqualTo(forRoot ? 1 : 0));
        assertThat(status).contains(forRoot ? "permission denied" : "3 voters, 3 healthy");
        await().atMost(COMMAND).untilAsserted(() -> assertThat(
                        run(anonymous, "status", "--user=supervisor", "--password-file=" + file("supervisor")))
                .as(status)
                .isZero());
        assertThat(run(anonymous, "status", "--user=supervisor")).isEqualTo(2);
        assertThat(run(reader, "remove", "m-3", "--yes")).isEqualTo(1);
        assertThat(status).contains("permission denied");

        // With authentication just begun, and the cluster too, a member may be late on a busy machine.
        await().atMost(COMMAND).untilAsserted(() -> done("status"));
        changed("add", "m-4", "--promote=never");
        changed("promote", "m-4");
        changed("remove", "m-4");
        changed("move-leader", "m-2");
        changed("roll");
        done("snapshot", "save", "--to=" + folder.resolve("snapshots"));
        try (var files = Files.list(folder.resolve("snapshots"))) {
            assertThat(files.filter(file -> file.toString().endsWith(".db"))).hasSize(1);
        }
    }

    @Test
    @Tag("schedules")
    void aLostQuorumIsRecovered() throws Exception {
        await().atMost(COMMAND).untilAsserted(() -> done("status"));
        try (ClusterConnection cluster = connection(supervisor)) {
            Machines machines = machines(cluster);
            for (MemberSpec member : cluster.places().subList(1, 3)) {
                machines.stop(member);
                deleteData(member);
            }
        }
        assertThat(run(supervisor, "recover", "--from=m-1", "--yes")).isEqualTo(1);
        assertThat(status).contains("supervisors may run", "repeat with --take-over");
        done("recover", "--from=m-1", "--yes", "--take-over");
        assertThat(run(supervisor, "status")).as(status).isZero();
        assertThat(status).contains("3 voters, 3 healthy");
    }

    private void deleteData(MemberSpec member) throws IOException {
        Files.move(folder.resolve(member.name()), folder.resolve(member.name() + "-lost"));
    }

    /**
     * Again while it is refused, after which it may be given again: a member that has just started, or an election, is a reason to, and
     * on a busy machine so is a connection between voters that has just been lost.
     */
    private void changed(String... command) {
        List<String> line = new ArrayList<>(List.of(command));
        line.add("--yes");
        AtomicInteger exit = new AtomicInteger();
        await().atMost(COMMAND).until(() -> {
            exit.set(run(supervisor, line.toArray(String[]::new)));
            return exit.get() == 0 || !status.contains("refused (");
        });
        assertThat(exit).as("%s%n%s", line, status).hasValue(0);
    }

    private void done(String... command) {
        assertThat(run(supervisor, command))
                .as("%s%n%s", List.of(command), status)
                .isZero();
    }

    private int run(Path configuration, String... command) {
        List<String> line = new ArrayList<>(List.of("cluster"));
        line.addAll(List.of(command));
        line.add("--config=" + configuration);
        StringWriter text = new StringWriter();
        PrintWriter writer = new PrintWriter(text, true);
        int exit = Understudy.run(writer, writer, line.toArray(String[]::new));
        status = text.toString();
        return exit;
    }

    private static ClusterConnection connection(Path configuration) {
        return new ClusterConnection(ClusterSettings.load(configuration, System.getenv(), Map.of()), true);
    }

    private static Machines machines(ClusterConnection cluster) {
        return cluster.machines(text -> {});
    }

    private void etcdctl(String... command) {
        List<String> line = new ArrayList<>(List.of(etcdctl, "--endpoints=127.0.0.1:" + ports.get(0)));
        line.addAll(List.of(command));
        var unused = Command.of(line).run(COMMAND);
    }

    private static String password(String user) {
        return "of-" + user;
    }

    private String user(String name) throws IOException {
        Files.writeString(file(name), password(name));
        return "\n  user: " + name + "\n  passwordFile: '" + file(name) + "'";
    }

    private Path file(String user) {
        return folder.resolve(user + ".password");
    }

    private Path configuration(String name, String user) throws IOException {
        StringBuilder text = new StringBuilder("cluster:\n  endpoints: ['http://127.0.0.1:" + ports.get(0)
                + "', 'http://127.0.0.1:" + ports.get(2) + "']" + user + "\nmachines:\n");
        for (int i = 0; i < MEMBERS; i++) {
            String member = "m-" + (i + 1);
            text.append("""
                      %s:
                        peerUrls: 'http://127.0.0.1:%d'
                        clientUrls: 'http://127.0.0.1:%d'
                        process: local
                        dataDirectory: '%s'
                    """.formatted(member, ports.get(2 * i + 1), ports.get(2 * i), folder.resolve(member))
                    .indent(2));
        }
        return Files.writeString(folder.resolve(name + ".yaml"), text);
    }
}
