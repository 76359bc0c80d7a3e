package io.understudy.local.etcd;

import io.understudy.local.process.Waiting;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Makes a running cluster expect a member that has no data yet. */
final class MemberRegistration {

    /** Error of etcd while its members have been connected for less than five seconds. */
    private static final String NOT_CONNECTED_LONG_ENOUGH = "etcdserver: unhealthy cluster";

    /**
     * Error of etcd for an addition in the second of the removed member's addition. An ID is a hash of peer URLs
     * and that second ({@code membership/member.go}), and removed IDs are never reused.
     */
    private static final String SAME_ID_AS_THE_REMOVED = "etcdserver: member not found";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final EtcdApi api;
    private final Roster roster;

    MemberRegistration(EtcdApi api, Roster roster) {
        this.api = api;
        this.roster = roster;
    }

    /**
     * Adds the member to the cluster, after removing its earlier entry. Each round starts from the cluster's member
     * list, so a request with an unknown outcome is never sent twice. Only errors known to have had no effect are
     * retried.
     *
     * @return the initial cluster for the newcomer's command line
     */
    String join(EtcdMember newcomer) {
        return Waiting.until(
                PATIENCE,
                () -> roster.healthyVoter(newcomer).flatMap(member -> step(newcomer, member)),
                () -> new IllegalStateException("member " + newcomer.name() + " did not join within "
                        + PATIENCE.toSeconds() + " s: the cluster is unhealthy or has no quorum"));
    }

    private Optional<String> step(EtcdMember newcomer, URI member) {
        List<EtcdApi.Listed> listed = api.members(member);
        Optional<EtcdApi.Listed> itself = listed.stream()
                .filter(entry -> isAt(entry, newcomer.addresses().advertisedPeer()))
                .findFirst();
        try {
            if (itself.isEmpty()) {
                api.addMember(member, newcomer.addresses().advertisedPeer(), newcomer.isLearner());
                return Optional.empty();
            }
            if (itself.get().wasStarted()) {
                api.removeMember(member, itself.get().id());
                return Optional.empty();
            }
            return Optional.of(listed.stream()
                    .map(entry -> nameOf(entry) + "=" + String.join(",", entry.peerUrls()))
                    .collect(Collectors.joining(",")));
        } catch (EtcdRequestException e) {
            if (e.reason().equals(NOT_CONNECTED_LONG_ENOUGH) || e.reason().equals(SAME_ID_AS_THE_REMOVED)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private String nameOf(EtcdApi.Listed entry) {
        return roster.members().stream()
                .filter(member -> isAt(entry, member.addresses().advertisedPeer()))
                .map(EtcdMember::name)
                .findFirst()
                .orElseGet(() -> entry.wasStarted() ? entry.name() : "member-" + Long.toHexString(entry.id()));
    }

    private static boolean isAt(EtcdApi.Listed entry, URI peer) {
        return entry.peerUrls().contains(peer.toString());
    }
}
