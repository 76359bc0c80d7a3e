package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.understudy.cluster.supervise.elect.Turn;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands that change a real cluster, as they are given.
 *
 * <p>Tests invariant DP23.
 */
final class ClusterChangeIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    @Test
    void aCommandWaitsForItsTurnAndPlansWithoutIt() throws Exception {
        try (LocalEtcd cluster = LocalEtcd.builder()
                .name("turn")
                .voters(1)
                .learners(1)
                .fsync(false)
                .dataDirectory(folder.resolve("turn"))
                .build()) {
            cluster.start();
            URI endpoint = cluster.voters().get(0).clientUrl();
            requireVotingMember(cluster);
            EtcdSettings settings = EtcdSettings.of(endpoint);
            StringWriter err = new StringWriter();
            StringWriter out = new StringWriter();
            CompletableFuture<Integer> removal;
            try (EtcdConnections connections = EtcdConnections.open(settings)) {
                try (Turn turn = Turn.take("somebody else", connections, settings::seeds, waiting -> {})) {
                    assertThat(turn.lost()).isEmpty();
                    assertThat(run(new StringWriter(), new StringWriter(), endpoint, "--dry-run"))
                            .isZero();
                    removal = CompletableFuture.supplyAsync(() -> run(out, err, endpoint, "--yes"));
                    await().atMost(PATIENCE).until(() -> err.toString().contains("waiting for somebody else"));
                    assertThat(removal).isNotDone();
                }
            }
            assertThat(removal.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("%s%s", err, out)
                    .isZero();
            assertThat(out.toString()).contains("done: ");
        }
    }

    private void requireVotingMember(LocalEtcd cluster) throws Exception {
        URI learner = cluster.learners().get(0).clientUrl();
        StringWriter out = new StringWriter();
        assertThat(checkSource(out, learner)).isEqualTo(1);
        assertThat(out.toString())
                .contains("source.endpoints lead to learners only, which serve no watches: ")
                .contains(learner + "]; add the client URL of a voting member");
        assertThat(checkSource(new StringWriter(), cluster.voters().get(0).clientUrl()))
                .isZero();
        StringWriter refused = new StringWriter();
        assertThat(checkSource(refused, URI.create("http://127.0.0.1:1"))).isEqualTo(1);
        assertThat(refused.toString()).contains("127.0.0.1:1");
    }

    private int checkSource(StringWriter out, URI endpoint) throws Exception {
        Path gateway = Files.writeString(
                folder.resolve("gateway.yaml"), "{name: g, source: {endpoints: \"%s\"}}".formatted(endpoint));
        return Understudy.commandLine()
                .setOut(new PrintWriter(out))
                .execute("config", "check", "--connect", "--timeout", "30s", gateway.toString());
    }

    @Test
    @Tag("core")
    void anUnknownMemberIsNotTakenForRemoved() throws Exception {
        try (LocalEtcd etcd = LocalEtcd.builder()
                .name("typo")
                .voters(2)
                .fsync(false)
                .dataDirectory(folder.resolve("typo"))
                .build()) {
            etcd.start();
            StringWriter err = new StringWriter();
            StringWriter out = new StringWriter();
            String endpoint = etcd.clientUrls().get(0).toString();
            assertThat(remove(out, err, "typo-l", "--endpoints", endpoint)).isEqualTo(2);
            assertThat(err.toString()).contains("no member has the name or ID typo-l; members: typo-1");
            Path configured = Files.writeString(folder.resolve("cluster.yaml"), """
                    cluster:
                      endpoints: %s
                    machines:
                      gone:
                        peerUrls: http://127.0.0.1:1
                        clientUrls: http://127.0.0.1:2
                        dataDirectory: gone
                    """.formatted(endpoint));
            assertThat(remove(out, err, "gone", "--config", configured.toString()))
                    .as("%s%s", err, out)
                    .isZero();
            assertThat(out.toString()).contains("gone is configured but not a member of the cluster");
            StringWriter text = new StringWriter();
            assertThat(cluster(text, "replace", "typo-1", "--with=typo-2", "--dry-run", "--endpoints=" + endpoint))
                    .as("an even number proves no interrupted replacement: %s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (replacement-is-new): typo-2 is a member already")
                    .contains("understudy cluster remove typo-1");
            // Two of three voting members: an interrupted run removed the one that was replaced by its ID.
            assertThat(cluster(
                            text, "replace", "8e9e05c52164694d", "--with=gone", "--dry-run", "--config=" + configured))
                    .as("%s", text)
                    .isZero();
            assertThat(text.toString()).contains("add gone as a learner");
        }
    }

    /** Before the learner is added, which would take its place until the start timeout. */
    @Test
    void aPeerUrlThatCannotWorkIsRefusedBeforeAnyEffect() throws Exception {
        try (LocalEtcd etcd = LocalEtcd.builder()
                .name("probe")
                .voters(1)
                .fsync(false)
                .dataDirectory(folder.resolve("probe"))
                .build()) {
            etcd.start();
            StringWriter text = new StringWriter();

            assertThat(cluster(
                            text,
                            "add",
                            "m2",
                            "--peer-urls=http://nowhere.invalid:2380",
                            "--endpoints=" + etcd.clientUrls().get(0)))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (peer-host-reachable): the host of peer URL http://nowhere.invalid:2380");
            assertThat(cluster(
                            text,
                            "add",
                            "m2",
                            "--peer-urls=http://nowhere.invalid:2380",
                            "--skip-peer-probe",
                            "--dry-run",
                            "--endpoints=" + etcd.clientUrls().get(0)))
                    .as("%s", text)
                    .isZero();
            // A network for documentation, of no machine.
            Path configured = Files.writeString(folder.resolve("foreign-address.yaml"), """
                    cluster:
                      endpoints: [%s]
                    machines:
                      m2: {process: local, peerUrls: "http://192.0.2.1:1", clientUrls: "http://127.0.0.1:2", dataDirectory: m2}
                    """.formatted(
                            etcd.clientUrls().get(0)));
            assertThat(cluster(text, "add", "m2", "--config=" + configured)).isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (url-of-machine): http://192.0.2.1:1 is not an address of this machine");
            assertThat(etcd.etcdctl("member", "list").lines()).hasSize(1);
        }
    }

    /** A spelling error must neither add a voting member nor remove one. */
    @Test
    void aReplacementWithAnUnknownOrUnsuitableNameIsRefusedBeforeAnyEffect() throws Exception {
        try (LocalEtcd etcd = LocalEtcd.builder()
                .name("names")
                .voters(3)
                .fsync(false)
                .dataDirectory(folder.resolve("names"))
                .build()) {
            etcd.start();
            String endpoints = etcd.clientUrls().stream().map(URI::toString).collect(Collectors.joining(","));
            StringWriter text = new StringWriter();

            assertThat(cluster(
                            text,
                            "replace",
                            "names-9",
                            "--with=other",
                            "--peer-urls=http://127.0.0.1:1",
                            "--yes",
                            "--endpoints=" + endpoints))
                    .isEqualTo(2);
            assertThat(text.toString()).contains("no member has the name or ID names-9");
            assertThat(cluster(text, "replace", "8e9e05c52164694d", "--with=names-2", "--endpoints=" + endpoints))
                    .isEqualTo(2);
            assertThat(text.toString()).contains("no member has the name or ID 8e9e05c52164694d");
            assertThat(cluster(text, "replace", "names-1", "--with=names-2", "--yes", "--endpoints=" + endpoints))
                    .isEqualTo(1);
            assertThat(text.toString()).contains("refused (replacement-is-new): names-2 is a member already");
            EtcdMember voter = etcd.members().get(0);
            Path configured = Files.writeString(folder.resolve("free.yaml"), """
                    cluster:
                      endpoints: [%s]
                    machines:
                      free: {peerUrls: "http://127.0.0.1:1", clientUrls: "http://127.0.0.1:2", dataDirectory: free}
                      %s: {process: local, program: /nowhere/etcd, peerUrls: "%s", clientUrls: "%s", dataDirectory: %s}
                    """.formatted(
                            endpoints, voter.name(), voter.peerUrl(), voter.clientUrl(), data(voter)));
            assertThat(cluster(text, "demote", "free", "--dry-run", "--config=" + configured))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (demoted-is-member): free is configured but not a member")
                    .contains("understudy cluster add free --promote never");
            // Times of starts are known to a second: a member may have started less than that before.
            String later = "--started-before=" + Instant.now().plusSeconds(60);
            assertThat(cluster(text, "roll", later, "--dry-run", "--config=" + configured))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (program-runs): names-1 could not start again: '/nowhere/etcd --version'");
            assertThat(cluster(text, "demote", "names-1", "--dry-run", "--config=" + configured))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (program-runs): names-1 could not start: '/nowhere/etcd --version'");
            assertThat(cluster(
                            text,
                            "replace",
                            Long.toHexString(voter.id()),
                            "--with=free",
                            "--migrate-data",
                            "--dry-run",
                            "--config=" + configured))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (data-movable): the data of names-1 cannot be moved to free: members names-1 and"
                            + " free have different process settings");
            assertThat(etcd.etcdctl("member", "list").lines()).hasSize(3);
            refuseUrlsAtWhichAMemberCouldNotStart(etcd, endpoints);
            planTheRepairOfACorruptLeader(etcd, endpoints);
        }
    }

    /** Before it stops, and before the others look for it there. */
    private void refuseUrlsAtWhichAMemberCouldNotStart(LocalEtcd etcd, String endpoints) throws Exception {
        EtcdMember member = etcd.members().get(1);
        String listed = etcd.etcdctl("member", "list");
        URI peers = member.peerUrl();
        URI clients = member.clientUrl();
        URI used = URI.create(
                "http://127.0.0.1:" + etcd.members().get(2).clientUrl().getPort());
        // A network for documentation, of no machine.
        URI foreign = URI.create("http://192.0.2.1:1");

        for (URI wrong : List.of(foreign, used)) {
            String rule = wrong.equals(foreign) ? "url-of-machine" : "port-free";
            for (List<String> command : List.of(
                    List.of("update-peer-urls", member.name(), wrong.toString(), clients.toString()),
                    List.of("update-client-urls", member.name(), peers.toString(), wrong.toString()))) {
                Path configured = Files.writeString(folder.resolve("moved.yaml"), """
                        cluster:
                          endpoints: [%s]
                        machines:
                          %s: {process: local, peerUrls: "%s", clientUrls: "%s", dataDirectory: %s}
                        """.formatted(
                                endpoints, member.name(), command.get(2), command.get(3), data(member)));
                StringWriter text = new StringWriter();
                assertThat(cluster(text, command.get(0), member.name(), "--yes", "--config=" + configured))
                        .as("%s", text)
                        .isEqualTo(1);
                assertThat(text.toString()).contains("refused (" + rule + "): ", String.valueOf(wrong.getPort()));
            }
            Path configured = Files.writeString(folder.resolve("migrated.yaml"), """
                    cluster:
                      endpoints: [%s]
                    machines:
                      free: {process: local, peerUrls: "%s", clientUrls: "http://127.0.0.1:2", dataDirectory: free}
                      %s: {process: local, peerUrls: "%s", clientUrls: "%s", dataDirectory: %s}
                    """.formatted(
                            endpoints, wrong, member.name(), peers, clients, data(member)));
            StringWriter text = new StringWriter();
            assertThat(cluster(
                            text,
                            "replace",
                            member.name(),
                            "--with=free",
                            "--migrate-data",
                            "--yes",
                            "--config=" + configured))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString()).contains("refused (" + rule + "): ", String.valueOf(wrong.getPort()));
        }
        assertThat(etcd.etcdctl("member", "list")).isEqualTo(listed);
        assertThat(member.isAlive()).as("the process that was started first").isTrue();
    }

    /** etcd's leader compares the others with itself, so the alarm of its own corruption is of another. */
    private void planTheRepairOfACorruptLeader(LocalEtcd etcd, String endpoints) throws Exception {
        etcd.etcdctl("put", "key", "unaltered");
        EtcdMember corrupt = etcd.leader();
        EtcdMember named = etcd.followers().get(0);
        StringBuilder machines = new StringBuilder("cluster:\n  endpoints: [" + endpoints + "]\nmachines:\n");
        for (EtcdMember member : etcd.members()) {
            machines.append("  %s: {process: local, peerUrls: %s, clientUrls: %s, dataDirectory: %s}%n"
                    .formatted(member.name(), member.peerUrl(), member.clientUrl(), data(member)));
        }
        Path configured = Files.writeString(folder.resolve("machines.yaml"), machines);
        etcd.stop();
        Path database = data(corrupt).resolve("member/snap/db");
        String bytes = Files.readString(database, StandardCharsets.ISO_8859_1);
        assertThat(bytes).contains("unaltered");
        Files.writeString(database, bytes.replace("unaltered", "corrupted"), StandardCharsets.ISO_8859_1);
        etcd.start();
        if (etcd.leader() != corrupt) {
            etcd.moveLeader(corrupt);
        }
        activate(named.clientUrl(), named.id(), 2);
        StringWriter text = new StringWriter();

        assertThat(cluster(text, "repair", "--dry-run", "--config=" + configured))
                .as("%s", text)
                .isZero();
        assertThat(text.toString())
                .containsSubsequence(
                        "remove " + corrupt.name() + " permanently",
                        "disarm CORRUPT of " + named.name(),
                        "add " + corrupt.name() + " as a learner");
    }

    private Path data(EtcdMember member) {
        return folder.resolve("names").resolve(member.name()).resolve("data");
    }

    /** The name of a machine and its ports prove nothing about the owner of its data directory. */
    @Test
    @Tag("core")
    void aMemberOfAnotherClusterInTheDataDirectoryIsLeftAlone() throws Exception {
        try (LocalEtcd etcd = LocalEtcd.builder()
                        .name("own")
                        .voters(1)
                        .dataDirectory(folder.resolve("own"))
                        .build();
                LocalEtcd other = LocalEtcd.builder()
                        .name("foreign")
                        .voters(1)
                        .dataDirectory(folder.resolve("foreign"))
                        .build()) {
            etcd.start();
            other.start();
            EtcdMember foreign = other.members().get(0);
            Path configured = Files.writeString(folder.resolve("cluster.yaml"), """
                    cluster:
                      endpoints: %s
                    machines:
                      extra:
                        process: local
                        peerUrls: %s
                        clientUrls: %s
                        dataDirectory: %s
                    """.formatted(
                            etcd.clientUrls().get(0),
                            foreign.peerUrl(),
                            foreign.clientUrl(),
                            folder.resolve("foreign/foreign-1/data")));
            StringWriter text = new StringWriter();

            assertThat(cluster(text, "add", "extra", "--yes", "--start-timeout=1s", "--config=" + configured))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (data-directory-free): a process uses the data directory of extra, of member "
                            + Long.toHexString(foreign.id()));
            // Added by hand, or by a run that was interrupted.
            etcd.etcdctl("member", "add", "extra", "--learner", "--peer-urls=" + foreign.peerUrl());
            assertThat(cluster(text, "add", "extra", "--yes", "--start-timeout=1s", "--config=" + configured))
                    .as("%s", text)
                    .isEqualTo(1);
            String listed = etcd.etcdctl("member", "list")
                    .lines()
                    .filter(line -> line.contains("unstarted"))
                    .map(line -> line.substring(0, line.indexOf(',')))
                    .findFirst()
                    .orElseThrow();
            assertThat(cluster(text, "remove", listed, "--yes", "--config=" + configured))
                    .as("%s", text)
                    .isZero();
            assertThat(foreign.isAlive()).isTrue();
            assertThat(other.etcdctl("put", "key", "value")).contains("OK");
        }
    }

    /** No hash differs, so the alarm may be one that a switchover raised. */
    @Test
    @Tag("core")
    void aFullDatabaseIsRepairedAndACorruptionThatNoHashConfirmsIsLeftAlone() throws Exception {
        try (LocalEtcd etcd = LocalEtcd.builder()
                .name("alarmed")
                .voters(3)
                .fsync(false)
                .dataDirectory(folder.resolve("alarmed"))
                .build()) {
            etcd.start();
            etcd.etcdctl("put", "key", "value");
            URI endpoint = etcd.leader().clientUrl();
            StringWriter text = new StringWriter();
            long raisedByMove = etcd.leader().id();
            putMove(endpoint, raisedByMove);
            activate(endpoint, etcd.leader().id(), 1);

            assertThat(cluster(text, "repair", "--yes", "--endpoints=" + endpoint))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString()).contains("refused (supervisors-stopped)");
            assertThat(cluster(
                            text,
                            "repair",
                            "--yes",
                            "--take-over",
                            "--supervisors=http://127.0.0.1:1",
                            "--endpoints=" + endpoint))
                    .as("%s", text)
                    .isZero();
            assertThat(text.toString()).contains("no supervisor reachable at http://127.0.0.1:1");
            assertThat(etcd.etcdctl("put", "key", "again")).contains("OK");
            long other = etcd.followers().stream()
                    .mapToLong(EtcdMember::id)
                    .filter(id -> id != raisedByMove)
                    .findFirst()
                    .orElseThrow();
            activate(endpoint, other, 2);

            assertThat(cluster(text, "repair", "--yes", "--take-over", "--endpoints=" + endpoint))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString()).contains("refused (corruption-confirmed)");
            activate(endpoint, raisedByMove, 2);
            assertThat(cluster(text, "repair", "--yes", "--take-over", "--endpoints=" + endpoint))
                    .as("%s", text)
                    .isEqualTo(1);
            assertThat(text.toString())
                    .contains("refused (alarm-of-move): CORRUPT was raised by switchover 7 of mirror dr");
            assertThat(cluster(text, "status", "--endpoints=" + endpoint)).isEqualTo(1);
            assertThat(text.toString()).contains("alarm-of-move: CORRUPT was raised by switchover 7 of mirror dr");
            assertThat(etcd.etcdctl("alarm", "list")).contains("CORRUPT");
        }
    }

    /** The record of a switchover that closed the cluster by an alarm. */
    private static void putMove(URI endpoint, long member) throws Exception {
        ClusterId cluster = new ClusterId(1);
        Home record = new Home("dr", cluster, cluster, new ClusterId(2), MirrorScope.prefix("/app/"), 3, Instant.EPOCH)
                .with(new Move(
                        Move.Phase.CLOSING,
                        new Move.Operation("7", "switchover", "host 1", Instant.EPOCH),
                        0,
                        0,
                        new Move.Closed(Move.Way.CORRUPT_ALARM, member, List.of())));
        EtcdSettings settings = EtcdSettings.of(endpoint);
        try (EtcdConnections connections = EtcdConnections.open(settings)) {
            PutRequest request = PutRequest.newBuilder()
                    .setKey(ReservedKeys.home("dr"))
                    .setValue(record.encode())
                    .build();
            var unused = connections
                    .call(settings.seeds().get(0), KVGrpc.getPutMethod(), request, PATIENCE)
                    .get();
        }
    }

    private static void activate(URI endpoint, long member, int kind) throws Exception {
        EtcdSettings settings = EtcdSettings.of(endpoint);
        try (EtcdConnections connections = EtcdConnections.open(settings)) {
            AlarmRequest request = AlarmRequest.newBuilder()
                    .setAction(AlarmRequest.AlarmAction.ACTIVATE)
                    .setMemberID(member)
                    .setAlarmValue(kind)
                    .build();
            var unused = connections
                    .call(settings.seeds().get(0), MaintenanceGrpc.getAlarmMethod(), request, PATIENCE)
                    .get();
        }
    }

    private static int cluster(StringWriter text, String... arguments) {
        PrintWriter both = new PrintWriter(text, true);
        return Understudy.run(
                both,
                both,
                Stream.concat(Stream.of("cluster"), Stream.of(arguments)).toArray(String[]::new));
    }

    private static int run(StringWriter out, StringWriter err, URI endpoint, String flag) {
        return remove(out, err, "turn-2", "--endpoints", endpoint.toString(), flag);
    }

    private static int remove(StringWriter out, StringWriter err, String... arguments) {
        return Understudy.run(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                Stream.concat(Stream.of("cluster", "remove"), Stream.of(arguments))
                        .toArray(String[]::new));
    }
}
