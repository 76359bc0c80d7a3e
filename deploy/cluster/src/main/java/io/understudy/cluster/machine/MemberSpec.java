package io.understudy.cluster.machine;

import io.understudy.config.Configured;
import io.understudy.etcd.EndpointUrls;
import java.net.URI;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A member as it is to be started.
 *
 * @param name unique in the cluster
 * @param peerUrls where the others find it
 * @param clientUrls where clients find it
 */
public record MemberSpec(
        String name,

        @Configured(
                value = "Peer URLs of the member (--initial-advertise-peer-urls).",
                check = MemberUrls.class,
                example = "http://10.0.0.1:2380")
        List<URI> peerUrls,

        @Configured(
                value = "Client URLs of the member (--advertise-client-urls).",
                check = MemberUrls.class,
                example = "http://10.0.0.1:2379")
        List<URI> clientUrls) {

    public MemberSpec {
        peerUrls = List.copyOf(peerUrls);
        clientUrls = List.copyOf(clientUrls);
    }

    /** Condition of etcd on URLs of members: a port, and no path. */
    static final class MemberUrls implements Consumer<List<URI>> {
        @Override
        public void accept(List<URI> urls) {
            new EndpointUrls().accept(urls);
            for (URI url : urls) {
                if (url.getPort() == -1 || !url.getPath().isEmpty()) {
                    throw new IllegalArgumentException(
                            url + " has no port, or has a path; use http://host:port or https://host:port");
                }
            }
        }
    }

    /** Returns the members in the form of etcd's command line: {@code name=peerUrl,…}. */
    public static String initialCluster(List<MemberSpec> members) {
        return members.stream()
                .flatMap(member -> member.peerUrls().stream().map(url -> member.name() + "=" + url))
                .collect(Collectors.joining(","));
    }
}
