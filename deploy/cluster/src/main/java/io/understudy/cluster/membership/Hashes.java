package io.understudy.cluster.membership;

import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.HashKVResponse;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/**
 * Hashes of the keys and history of several members at one revision.
 *
 * @param <K> identifies a member
 */
public record Hashes<K>(Map<K, Hash> found) {

    /** A member reads its whole database for it. */
    private static final Duration DEADLINE = Duration.ofMinutes(2);

    /** Members compact at different times; only hashes after equal compactions are comparable. */
    public record Hash(long value, long compacted) {}

    public Hashes {
        found = Map.copyOf(found);
    }

    /**
     * Reads the hash of one voting member; learners refuse this.
     *
     * @throws ExecutionException it does not have that revision, or does not respond
     */
    public static Hash read(EtcdConnections connections, Endpoint endpoint, Revision revision)
            throws ExecutionException, InterruptedException {
        HashKVRequest request =
                HashKVRequest.newBuilder().setRevision(revision.value()).build();
        HashKVResponse response = connections
                .call(endpoint, MaintenanceGrpc.getHashKVMethod(), request, DEADLINE)
                .get();
        return new Hash(Integer.toUnsignedLong(response.getHash()), response.getCompactRevision());
    }

    /** The hash that at least so many members have. */
    public Optional<Hash> agreed(int members) {
        return found.values().stream()
                .filter(hash -> found.values().stream().filter(hash::equals).count() >= members)
                .findFirst();
    }

    public boolean areComparable() {
        return found.values().stream().map(Hash::compacted).distinct().count() <= 1;
    }

    public boolean areEqual() {
        return found.values().stream().distinct().count() <= 1;
    }

    /** Whether the member has another hash after an equal compaction. */
    public boolean differs(K member, Hash hash) {
        Hash own = found.get(member);
        return own != null && own.compacted() == hash.compacted() && own.value() != hash.value();
    }

    /** Returns a member's hash as text. */
    public String text(K member) {
        Hash own = found.get(member);
        return own == null ? "unknown" : Long.toHexString(own.value()) + " (compacted to " + own.compacted() + ")";
    }
}
