package io.understudy.cluster.machine;

import java.net.URI;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A member as it is to be started.
 *
 * @param name unique in the cluster
 * @param peerUrls where the others find it
 * @param clientUrls where clients find it
 */
public record MemberSpec(String name, List<URI> peerUrls, List<URI> clientUrls) {

    public MemberSpec {
        peerUrls = List.copyOf(peerUrls);
        clientUrls = List.copyOf(clientUrls);
    }

    /** All of them, in the form of etcd's command line: {@code name=peerUrl,…}. */
    public static String initialCluster(List<MemberSpec> members) {
        return members.stream()
                .flatMap(member -> member.peerUrls().stream().map(url -> member.name() + "=" + url))
                .collect(Collectors.joining(","));
    }
}
