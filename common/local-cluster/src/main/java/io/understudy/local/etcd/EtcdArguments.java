package io.understudy.local.etcd;

import io.understudy.local.certificate.ServerTls;
import io.understudy.local.etcd.LocalEtcdBuilder.EtcdLimits;
import io.understudy.local.etcd.LocalEtcdBuilder.EtcdOptions;
import java.util.ArrayList;
import java.util.List;

/** Writes a member's command line. */
record EtcdArguments(EtcdOptions options, EtcdLimits limits) {

    /** Value of {@code --initial-cluster-state}. */
    enum ClusterState {
        NEW,
        EXISTING
    }

    /**
     * @param initialCluster all members as {@code name=peerUrl,…}; ignored by etcd when the member has data
     * @param memberArguments this member's own
     */
    List<String> of(EtcdMember member, String initialCluster, ClusterState state, List<String> memberArguments) {
        MemberAddresses addresses = member.addresses();
        List<String> line = new ArrayList<>(List.of(
                "--name=" + member.name(),
                "--data-dir=" + member.data(),
                "--listen-client-urls=" + addresses.client(),
                "--advertise-client-urls=" + addresses.advertisedClient(),
                "--listen-peer-urls=" + addresses.peer(),
                "--initial-advertise-peer-urls=" + addresses.advertisedPeer(),
                "--initial-cluster=" + initialCluster,
                "--initial-cluster-token=" + options.token(),
                "--initial-cluster-state=" + (state == ClusterState.NEW ? "new" : "existing"),
                "--logger=zap",
                "--log-outputs=stderr",
                "--strict-reconfig-check=" + options.strictReconfiguration()));
        if (!options.fsync()) {
            // Only fit for tests, and so are passwords that are quickly hashed.
            line.addAll(List.of("--unsafe-no-fsync", "--bcrypt-cost=4"));
        }
        ServerTls tls = options.tls();
        if (tls != null) {
            line.addAll(List.of(
                    "--cert-file=" + tls.certificate(),
                    "--key-file=" + tls.key(),
                    "--trusted-ca-file=" + tls.authority(),
                    "--client-cert-auth=true",
                    "--peer-cert-file=" + tls.certificate(),
                    "--peer-key-file=" + tls.key(),
                    "--peer-trusted-ca-file=" + tls.authority(),
                    "--peer-client-cert-auth=true"));
        }
        line.addAll(limits.learnerArguments());
        line.addAll(options.extraArguments());
        line.addAll(memberArguments);
        return line;
    }
}
