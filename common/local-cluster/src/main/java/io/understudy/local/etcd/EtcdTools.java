package io.understudy.local.etcd;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.certificate.ServerTls;
import io.understudy.local.process.Command;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs etcd's command line tools. */
record EtcdTools(EtcdBinaries binaries, @Nullable ServerTls tls) {

    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final String ENDPOINTS = "--endpoints";

    /** Against those of the members that run, past any proxy, unless the arguments name endpoints. */
    String etcdctl(List<EtcdMember> members, String... commandLine) {
        List<String> line = new ArrayList<>(List.of(binaries.etcdctl().toString()));
        if (Arrays.stream(commandLine).noneMatch(argument -> argument.startsWith(ENDPOINTS))) {
            line.add(members.stream()
                    .filter(EtcdMember::answers)
                    .map(member -> member.directClientUrl().toString())
                    .collect(Collectors.joining(",", ENDPOINTS + "=", "")));
        }
        if (tls != null) {
            line.addAll(List.of("--cacert=" + tls.authority(), "--cert=" + tls.certificate(), "--key=" + tls.key()));
        }
        line.addAll(List.of(commandLine));
        return Command.of(line).run(DEADLINE);
    }

    /** Makes the member's data from a snapshot; it must have none. */
    void restore(Path snapshot, EtcdMember member, String initialCluster, String token) {
        Path etcdutl = binaries.etcdutl();
        if (etcdutl == null) {
            throw new IllegalStateException("restore requires etcdutl in the directory of " + binaries.etcd());
        }
        Command.of(List.of(
                        etcdutl.toString(),
                        "snapshot",
                        "restore",
                        snapshot.toString(),
                        "--name=" + member.name(),
                        "--data-dir=" + member.data(),
                        "--initial-cluster=" + initialCluster,
                        "--initial-cluster-token=" + token,
                        "--initial-advertise-peer-urls=" + member.addresses().advertisedPeer()))
                .run(DEADLINE);
    }
}
