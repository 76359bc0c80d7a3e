package io.understudy.cluster.machine;

import java.net.URI;
import java.util.List;

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
}
