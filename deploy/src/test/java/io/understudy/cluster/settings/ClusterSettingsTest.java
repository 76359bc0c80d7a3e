package io.understudy.cluster.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.config.ConfigurationException;
import io.understudy.etcd.Endpoint;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClusterSettingsTest {

    @TempDir
    private Path folder;

    @Test
    void aSupervisorShowsItselfToOtherMachinesByTlsOrWherePlainTextIsWrittenDown() throws IOException {
        String open = """
                cluster: {endpoints: 'http://127.0.0.1:1'}
                supervisor:
                  listen: 0.0.0.0:8082
                """;
        assertThatThrownBy(() -> load(open))
                .hasMessageContaining("supervisor.listen is 0.0.0.0:8082")
                .hasMessageContaining("insecure: true");
        assertThat(load(open + "  insecure: true").supervisor().security().insecure())
                .isTrue();
        assertThat(load(open + "  tls: {certificate: /s.crt, key: /s.key}")
                        .supervisor()
                        .security()
                        .files())
                .isEqualTo(new TlsFiles(null, Path.of("/s.crt"), Path.of("/s.key")));
    }

    @Test
    void readsMachinesShapeAndSnapshots() throws IOException {
        ClusterSettings settings = load("""
                cluster:
                  endpoints: http://127.0.0.1:1
                machines:
                  voter-1:
                    peerUrls: http://127.0.0.1:11
                    clientUrls: http://127.0.0.1:1
                    process: local
                    dataDirectory: /data/voter-1
                  voter-2:
                    peerUrls: http://127.0.0.1:12
                    clientUrls: http://127.0.0.1:2
                    dataDirectory: /data/voter-2
                    arguments: [--quota-backend-bytes=1, --snapshot-count=5]
                shape:
                  voters: 5
                  standbys: 1
                  deadTime: 10s
                  readReplicas: voter-2
                snapshots:
                  directory: /backup
                  uploadCommand: [/bin/upload, --fast]
                """);
        assertThat(settings.cluster().endpoints()).containsExactly(URI.create("http://127.0.0.1:1"));
        assertThat(settings.otherwise().endpoints()).containsExactly(Endpoint.of(URI.create("http://127.0.0.1:2")));
        assertThat(settings.machines()).extracting(MachineSettings::name).containsExactly("voter-1", "voter-2");
        MachineSettings first = settings.machine("voter-1").orElseThrow();
        assertThat(first.process()).isEqualTo(ProcessKind.LOCAL);
        assertThat(first.log()).isEqualTo(Path.of("/data/voter-1.log"));
        assertThat(settings.machine("voter-2").orElseThrow().arguments()).hasSize(2);
        assertThat(settings.votingMachines()).extracting(MachineSettings::name).containsExactly("voter-1");
        assertThat(settings.shape().voters()).isEqualTo(5);
        assertThat(settings.shape().standbys()).isEqualTo(1);
        assertThat(settings.limits().dead()).isEqualTo(Duration.ofSeconds(10));
        assertThat(settings.snapshots().directory()).contains(Path.of("/backup"));
        assertThat(settings.snapshots().uploadCommand()).containsExactly("/bin/upload", "--fast");
    }

    @Test
    void machinesShapeAndSnapshotsMayBeLeftOut() throws IOException {
        ClusterSettings settings = load("cluster: {endpoints: http://127.0.0.1:1}");
        assertThat(settings.machines()).isEmpty();
        assertThat(settings.shape().voters()).isEqualTo(3);
        assertThat(settings.snapshots().directory()).isEmpty();
    }

    /** A member with another limit accepts learners that the others reject. */
    @Test
    void allMachinesHaveTheDeclaredLimitOfLearners() throws IOException {
        String machines = """
                cluster: {endpoints: http://127.0.0.1:1}
                machines:
                  one: {peerUrls: http://127.0.0.1:11, clientUrls: http://127.0.0.1:1, dataDirectory: /1}
                  two: {peerUrls: http://127.0.0.1:12, clientUrls: http://127.0.0.1:2, dataDirectory: /2%s}
                shape: {maxLearners: 2}
                """;
        assertThat(load(machines.formatted("")).machines())
                .allSatisfy(machine -> assertThat(machine.maxLearners()).contains("2"));
        refused(machines.formatted(", arguments: --max-learners=3"), "all members need the same limit");
    }

    @Test
    void refusesAnEvenNumberOfVoters() {
        refused("""
                cluster: {endpoints: http://127.0.0.1:1}
                shape: {voters: 4}
                """, "the number of voting members must be odd, such as 5");
    }

    @Test
    void refusesTwoMachinesWithTheSameDataOrAddress() {
        refused("""
                cluster: {endpoints: http://127.0.0.1:1}
                machines:
                  one: {peerUrls: http://127.0.0.1:11, clientUrls: http://127.0.0.1:1, dataDirectory: /d, process: local}
                  two: {peerUrls: http://127.0.0.1:12, clientUrls: http://127.0.0.1:2, dataDirectory: /d, process: local}
                """, "machines one and two have the same data directory /d");
        refused("""
                cluster: {endpoints: http://127.0.0.1:1}
                machines:
                  one: {peerUrls: http://127.0.0.1:11, clientUrls: http://127.0.0.1:1, dataDirectory: /d}
                  two: {peerUrls: http://127.0.0.1:11, clientUrls: http://127.0.0.1:2, dataDirectory: /d}
                """, "machines one and two have the same peer URL http://127.0.0.1:11");
    }

    /** etcd does not start with them. */
    @Test
    void refusesUrlsOfMembersWithoutAPortOrWithAPath() {
        for (String url : List.of("http://m1", "http://m1:2379/")) {
            refused("""
                    cluster: {endpoints: http://127.0.0.1:1}
                    machines: {m1: {peerUrls: http://m1:2380, clientUrls: '%s', dataDirectory: /d}}
                    """.formatted(url), url + " has no port, or has a path; use http://host:port");
        }
    }

    @Test
    void refusesAReadReplicaWithoutAMachine() {
        refused("""
                cluster: {endpoints: http://127.0.0.1:1}
                shape: {readReplicas: far}
                """, "shape.readReplicas is [far]; allowed: names of machines []");
    }

    @Test
    void refusesWhatIsNoFlagOfEtcd() {
        refused("""
                cluster: {endpoints: http://127.0.0.1:1}
                machines:
                  one:
                    peerUrls: http://127.0.0.1:11
                    clientUrls: http://127.0.0.1:1
                    dataDirectory: /d
                    arguments: quota=1
                """, "which is not --flag=value");
    }

    private void refused(String text, String why) {
        assertThatThrownBy(() -> load(text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(why);
    }

    private ClusterSettings load(String text) throws IOException {
        return ClusterSettings.load(Files.writeString(folder.resolve("cluster.yaml"), text), Map.of(), Map.of());
    }
}
