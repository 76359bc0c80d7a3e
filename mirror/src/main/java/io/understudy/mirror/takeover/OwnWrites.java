package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The last that a source's owners have made of each mirrored key; of so many keys, and no more. One thread. */
final class OwnWrites {

    private static final int MOST_KEYS = 10_000;
    private static final long MOST_BYTES = 64L << 20;

    private static final int MOST_IN_BATCH = 32;
    /** So much of values fits into one answer, with what comes with them. */
    private static final int BATCH_BYTES = 48 << 20;

    private final MirrorScope scope;
    private final int batch;
    /** Nothing for a key that was deleted. */
    private final Map<ByteString, Optional<ByteString>> last = new LinkedHashMap<>();

    private long bytes;
    private boolean complete = true;

    /** @param maxRequestBytes few values of the target are larger, by what is configured */
    OwnWrites(MirrorScope scope, int maxRequestBytes) {
        this.scope = scope;
        this.batch = Math.max(1, Math.min(MOST_IN_BATCH, BATCH_BYTES / maxRequestBytes));
    }

    void add(Commit commit) {
        for (Change change : commit.changes()) {
            if (scope.contains(change.key())) {
                add(
                        change.key(),
                        change instanceof Change.Put put
                                ? Optional.of(put.keyValue().value())
                                : Optional.empty());
            }
        }
    }

    private void add(ByteString key, Optional<ByteString> value) {
        if (last.containsKey(key)) {
            bytes -= size(key, last.remove(key));
        }
        if (last.size() < MOST_KEYS && bytes + size(key, value) <= MOST_BYTES) {
            bytes += size(key, value);
            last.put(key, value);
        } else {
            complete = false;
        }
    }

    private static long size(ByteString key, Optional<ByteString> value) {
        return (long) key.size() + value.map(ByteString::size).orElse(0);
    }

    /** Leaves out what others have as well: what its owners made of it later counts. */
    void dropAllOf(OwnWrites others) {
        last.keySet().removeAll(others.last.keySet());
    }

    /** Whether every key is among them. */
    boolean isComplete() {
        return complete;
    }

    /**
     * What of it is otherwise in the target now.
     *
     * @throws TakeOverException the target answers nothing at all
     */
    Differing differingIn(PatientCalls target) {
        return differing(new There(target, scope::inTarget, Revision.ZERO));
    }

    /**
     * What of it the source itself had otherwise at a revision: since then it was overwritten, and not by its owners.
     *
     * @throws TakeOverException the source answers nothing at all
     */
    Differing overwrittenIn(PatientCalls source, Revision at) {
        return differing(new There(source, key -> key, at));
    }

    private Differing differing(There there) {
        List<ByteString> keys = List.copyOf(last.keySet());
        List<ByteString> differing = new ArrayList<>();
        String unknown = null;
        for (int from = 0; from < keys.size() && unknown == null; from += batch) {
            unknown = compare(there, keys.subList(from, Math.min(keys.size(), from + batch)), differing);
        }
        return new Differing(differing, unknown);
    }

    /** @return why that cluster doesn't tell one of them; null if it told all */
    private @Nullable String compare(There there, List<ByteString> keys, List<ByteString> differing) {
        boolean isOne = keys.size() == 1;
        List<Optional<ByteString>> values;
        try {
            values = (isOne ? there : there.asked(Duration.ZERO)).values(keys);
        } catch (TakeOverException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            if (isOne) {
                // An answer that never comes must not hold up the end of a failback; a target that is down does so
                // anyway.
                var unused = there.cluster().head();
                return "key " + Survey.shown(keys.get(0)) + ": " + e.getMessage();
            }
            // Together they may be more than can be received, or than comes in time.
            String unknown = compare(there, keys.subList(0, keys.size() / 2), differing);
            return unknown != null ? unknown : compare(there, keys.subList(keys.size() / 2, keys.size()), differing);
        }
        for (int i = 0; i < keys.size(); i++) {
            if (!values.get(i).equals(last.get(keys.get(i)))) {
                differing.add(keys.get(i));
            }
        }
        return null;
    }

    /**
     * Where they are compared with.
     *
     * @param at of that cluster; zero for now
     */
    private record There(PatientCalls cluster, UnaryOperator<ByteString> names, Revision at) {

        There asked(Duration patience) {
            return new There(cluster.with(patience), names, at);
        }

        List<Optional<ByteString>> values(List<ByteString> keys) {
            TxnRequest.Builder reads = TxnRequest.newBuilder();
            keys.forEach(key -> reads.addSuccess(RequestOp.newBuilder()
                    .setRequestRange(
                            RangeRequest.newBuilder().setKey(names.apply(key)).setRevision(at.value()))));
            return cluster.txn("what the source has written", reads.build()).getResponsesList().stream()
                    .map(ResponseOp::getResponseRange)
                    .map(found -> found.getKvsList().stream().findFirst().map(io.etcd.jetcd.api.KeyValue::getValue))
                    .toList();
        }
    }

    /**
     * Keys that two clusters have otherwise.
     *
     * @param keys as the source calls them
     * @param unknown why it can't be told of the others; null if it can
     */
    record Differing(List<ByteString> keys, @Nullable String unknown) {

        static final Differing NONE = new Differing(List.of(), null);

        Differing {
            keys = List.copyOf(keys);
        }

        Differing and(Differing others) {
            List<ByteString> all = new ArrayList<>(keys);
            all.addAll(others.keys);
            return new Differing(all, unknown == null ? others.unknown : unknown);
        }
    }
}
