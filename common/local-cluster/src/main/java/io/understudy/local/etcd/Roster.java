package io.understudy.local.etcd;

import java.net.URI;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/** The members of a cluster and their combined state, read past their proxies. Thread-safe. */
final class Roster {

    private final EtcdApi api;
    private final List<EtcdMember> members = new CopyOnWriteArrayList<>();

    Roster(EtcdApi api) {
        this.api = api;
    }

    void add(EtcdMember member) {
        members.add(member);
    }

    void remove(EtcdMember member) {
        members.remove(member);
    }

    List<EtcdMember> members() {
        return List.copyOf(members);
    }

    List<EtcdMember> voters() {
        return members.stream().filter(member -> !member.isLearner()).toList();
    }

    List<EtcdMember> learners() {
        return members.stream().filter(EtcdMember::isLearner).toList();
    }

    /** All voters as value of {@code --initial-cluster}. */
    String initialCluster() {
        return voters().stream()
                .map(member -> member.name() + "=" + member.addresses().advertisedPeer())
                .collect(Collectors.joining(","));
    }

    /** Ids of the members' processes that run now, by member name. */
    Map<String, Long> processIds() {
        Map<String, Long> ids = new LinkedHashMap<>();
        for (EtcdMember member : members) {
            OptionalLong id = member.processId();
            if (id.isPresent()) {
                ids.put(member.name(), id.getAsLong());
            }
        }
        return ids;
    }

    /** Completes with the member's status, or empty if it doesn't answer. */
    CompletableFuture<Optional<MemberStatus>> status(EtcdMember member) {
        return api.status(member.addresses().client())
                .handle((status, failure) -> failure == null ? Optional.of(status) : Optional.empty());
    }

    /**
     * The voter that reports itself as leader in the highest term. A leader that was cut off remains one in an old term
     * for a while.
     */
    Optional<EtcdMember> leader() {
        Map<EtcdMember, CompletableFuture<Optional<MemberStatus>>> statuses =
                voters().stream().filter(EtcdMember::answers).collect(Collectors.toMap(member -> member, this::status));
        return statuses.entrySet().stream()
                .flatMap(entry -> entry.getValue().join().map(status -> Map.entry(entry.getKey(), status)).stream())
                .max(Comparator.comparingLong((Map.Entry<EtcdMember, MemberStatus> entry) ->
                                entry.getValue().raftTerm())
                        .thenComparing(entry -> entry.getValue().leads()))
                .filter(entry -> entry.getValue().leads())
                .map(Map.Entry::getKey);
    }

    /** The URL of another voter, for requests that need the quorum. */
    Optional<URI> healthyVoter(EtcdMember except) {
        return voters().stream()
                .filter(member -> member != except && member.answers())
                .map(member -> member.addresses().client())
                .filter(client -> api.healthy(client).join())
                .findFirst();
    }
}
