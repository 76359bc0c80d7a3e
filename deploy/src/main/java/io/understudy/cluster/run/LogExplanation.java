package io.understudy.cluster.run;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Why a member does not start, from the end of its log: etcd's words and what they mean. */
final class LogExplanation {

    /** etcd's reconfiguration guide, "Error cases when adding members", and what its {@code etcdmain} ends with. */
    private static final Map<String, String> MEANINGS = Map.ofEntries(
            Map.entry(
                    "member count is unequal",
                    "its --initial-cluster does not list exactly the members the cluster has, itself included"),
            Map.entry(
                    "PeerURLs: no match found for existing member",
                    "its --initial-cluster has another peer URL for a member than the cluster was told"),
            Map.entry(
                    "unmatched member while checking PeerURLs",
                    "its --initial-cluster has another peer URL for it than the cluster was told"),
            Map.entry(
                    "has been permanently removed from the cluster",
                    "its data is of a member that was removed; it needs an empty data directory"),
            Map.entry(
                    "could not retrieve cluster information from the given URLs",
                    "it reaches none of the members at the peer URLs they are listed with"),
            Map.entry("address already in use", "something else listens at one of its addresses"),
            Map.entry("cannot assign requested address", "one of its addresses is not this machine's"),
            Map.entry("cluster ID mismatch", "its data is of another cluster"),
            Map.entry("couldn't find local name", "its --initial-cluster does not name it"),
            Map.entry("permission denied", "it may not read or write its data directory"),
            Map.entry("no space left on device", "its disk is full"),
            Map.entry("no such host", "one of its addresses has a name that can't be resolved"));

    private LogExplanation() {}

    /** The line that tells, with its meaning; empty if none does. */
    static Optional<String> of(List<String> lines) {
        for (int i = lines.size() - 1; i >= 0; i--) {
            String line = lines.get(i);
            Optional<String> meaning = MEANINGS.entrySet().stream()
                    .filter(each -> line.contains(each.getKey()))
                    .map(each -> "etcd says \"" + each.getKey() + "\": " + each.getValue())
                    .findFirst();
            if (meaning.isPresent()) {
                return meaning;
            }
        }
        return Optional.empty();
    }
}
