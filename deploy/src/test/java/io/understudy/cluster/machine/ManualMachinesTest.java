package io.understudy.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.machine.ConfiguredMachines.ManualMachines;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ManualMachinesTest {

    private static final MemberSpec MEMBER = new MemberSpec(
            "four", List.of(URI.create("http://10.0.0.4:2380")), List.of(URI.create("http://10.0.0.4:2379")));

    private final List<String> instructions = new ArrayList<>();
    private final ManualMachines machines = new ManualMachines(List.of(), instructions::add);

    @Test
    void printsTheExactEnvironmentAndCommandLineForAJoin() {
        machines.join(MEMBER, "one=http://10.0.0.1:2380,four=http://10.0.0.4:2380");
        assertThat(String.join("\n", instructions)).isEqualTo("""
                To do for member four: start it without data, to join, with these variables
                  ETCD_NAME="four"
                  ETCD_DATA_DIR="/var/lib/etcd/four"
                  ETCD_LISTEN_CLIENT_URLS="http://10.0.0.4:2379"
                  ETCD_ADVERTISE_CLIENT_URLS="http://10.0.0.4:2379"
                  ETCD_LISTEN_PEER_URLS="http://10.0.0.4:2380"
                  ETCD_INITIAL_ADVERTISE_PEER_URLS="http://10.0.0.4:2380"
                  ETCD_INITIAL_CLUSTER="one=http://10.0.0.1:2380,four=http://10.0.0.4:2380"
                  ETCD_INITIAL_CLUSTER_STATE="existing"
                or with this command line
                  etcd \\
                    --name=four \\
                    --data-dir=/var/lib/etcd/four \\
                    --listen-client-urls=http://10.0.0.4:2379 \\
                    --advertise-client-urls=http://10.0.0.4:2379 \\
                    --listen-peer-urls=http://10.0.0.4:2380 \\
                    --initial-advertise-peer-urls=http://10.0.0.4:2380 \\
                    --initial-cluster=one=http://10.0.0.1:2380,four=http://10.0.0.4:2380 \\
                    --initial-cluster-state=existing
                If data of an earlier member exists, first
                  mv /var/lib/etcd/four /var/lib/etcd/four.old-$(date -u +%Y%m%dT%H%M%S)
                Once it serves, remove initial-cluster and initial-cluster-token from its unit or script, and set \
                initial-cluster-state=existing: without its data, it must not start""");
    }

    @Test
    void pathsAreShellWords() {
        ManualMachines own = new ManualMachines(
                List.of(MachineSettings.of(MEMBER, ProcessKind.MANUAL, Path.of("/data of/four"))), instructions::add);
        own.copyData(MEMBER);
        own.retire(MEMBER);
        assertThat(instructions)
                .contains(
                        "  cp -a '/data of/four' '/data of/four.copy-'$(date -u +%Y%m%dT%H%M%S)",
                        "  mv '/data of/four' '/data of/four.old-'$(date -u +%Y%m%dT%H%M%S)");
    }

    @Test
    void theStateOfProcessesIsUnknown() {
        assertThat(machines.isRunning(MEMBER)).isEmpty();
    }
}
