package io.understudy.etcd;

import io.etcd.jetcd.api.Member;
import io.etcd.jetcd.api.MemberListResponse;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The members of a cluster by its own account, in its order. */
record MemberList(List<Entry> entries) {

    MemberList {
        entries = List.copyOf(entries);
    }

    /**
     * One member.
     *
     * @param name empty until it has started
     * @param role a gateway may list gateways, which have no peer URLs
     * @param clientUrls its client URLs that are endpoints; others, such as Unix sockets, are left out
     */
    record Entry(MemberId id, String name, Role role, List<Endpoint> clientUrls) {}

    /**
     * Reads an answer.
     *
     * @param encrypted whether to use encrypted endpoints only: data requested over TLS must not be fetched without
     */
    static MemberList of(MemberListResponse response, boolean encrypted) {
        return new MemberList(response.getMembersList().stream()
                .map(member -> new Entry(
                        new MemberId(member.getID()),
                        member.getName(),
                        role(member),
                        member.getClientURLsList().stream()
                                .flatMap(url -> endpoint(url).stream())
                                .filter(endpoint -> endpoint.tls() || !encrypted)
                                .toList()))
                .toList());
    }

    Stream<Endpoint> endpoints() {
        return entries.stream().flatMap(entry -> entry.clientUrls().stream());
    }

    private static Role role(Member member) {
        return member.getIsLearner() ? Role.LEARNER : member.getPeerURLsCount() == 0 ? Role.GATEWAY : Role.VOTER;
    }

    private static Optional<Endpoint> endpoint(String url) {
        try {
            return Optional.of(Endpoint.of(URI.create(url)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
