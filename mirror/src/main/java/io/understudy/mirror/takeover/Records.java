package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads and writes a mirror's records in one cluster: record, checkpoint and epoch. */
record Records(TakeOverCalls cluster, String mirror) {

    private static final int PAGE_KEYS = 1_000;
    private static final Duration ANSWER = Duration.ofSeconds(3);
    private static final Set<EtcdError> REFUSALS =
            Set.of(EtcdError.PERMISSION_DENIED, EtcdError.LOGIN_FAILED, EtcdError.USER_EMPTY);

    String shown() {
        return cluster.shown();
    }

    /** Of a cluster that may be lost, which gets little time. */
    Records promptly() {
        return new Records(cluster.with(ANSWER), mirror);
    }

    boolean responds() {
        try {
            var unused = promptly().cluster().get(ReservedKeys.home(mirror));
            return true;
        } catch (TakeOverException e) {
            return refusesUser(e);
        }
    }

    /** Whether the cluster refused the user of the call. That is an answer: clients may write there. */
    static boolean refusesUser(TakeOverException e) {
        return e.getCause() instanceof CallFailedException failed && REFUSALS.contains(failed.error());
    }

    /**
     * What was found, at one revision.
     *
     * @param record null for none
     * @param recordRevision at which it was written; 0 for none
     * @param epochRevision likewise for the epoch
     * @param isFrozen whether it has the mark of a closed cluster
     */
    record Found(
            String mirror,
            ClusterId cluster,
            long revision,
            @Nullable Home record,
            long recordRevision,
            @Nullable Checkpoint checkpoint,
            long epochRevision,
            boolean isFrozen) {

        boolean isPrimary() {
            return record != null && record.cluster().equals(cluster);
        }

        long epoch() {
            return record == null ? 0 : record.moves();
        }

        /** @throws TakeOverException there is none */
        Home required() {
            if (record == null) {
                throw new TakeOverException("no primary record of mirror " + mirror + " at cluster " + cluster
                        + ": start the mirror and wait until it is synced");
            }
            return record;
        }

        Move move() {
            return record == null ? Move.NONE : record.move();
        }

        /** Whether the command that changed the record last is of that kind. */
        boolean isLast(String kind) {
            Operation last = move().operation();
            return last != null && last.kind().equals(kind);
        }
    }

    Found read() {
        ByteString checkpoint = ReservedKeys.checkpoint(mirror);
        TxnResponse answer = cluster.txn(
                "a read of the primary record",
                TxnRequest.newBuilder()
                        .addSuccess(get(ReservedKeys.home(mirror)))
                        .addSuccess(get(checkpoint))
                        .addSuccess(get(ReservedKeys.epoch(mirror)))
                        .addSuccess(get(ReservedKeys.freeze(mirror)))
                        .build());
        Optional<KeyValue> record = first(answer, 0);
        return new Found(
                mirror,
                new ClusterId(answer.getHeader().getClusterId()),
                answer.getHeader().getRevision(),
                record.map(each -> decoded(cluster, each)).orElse(null),
                record.map(KeyValue::getModRevision).orElse(0L),
                first(answer, 1).map(this::checkpoint).orElse(null),
                first(answer, 2).map(KeyValue::getModRevision).orElse(0L),
                first(answer, 3).isPresent());
    }

    /**
     * What an operator has to do if the record of a closed cluster was deleted: the mirror stores a new one, without how the
     * cluster was closed, and nothing else has the permissions.
     */
    Optional<String> unrecorded(Found found) {
        return found.isFrozen() && found.move().closed() == null
                ? Optional.of(shown() + " was closed by a move of mirror " + mirror
                        + ", but its primary record was deleted since and does not state how. Grant the roles of clients"
                        + " write access to the mirrored keys, or disable authentication if the move enabled it; then"
                        + " delete the mark: curl -H \"Authorization: $TOKEN\" $ENDPOINT/v3/kv/deleterange -d '{\"key\": \""
                        + Base64.getEncoder()
                                .encodeToString(ReservedKeys.freeze(mirror).toByteArray())
                        + "\"}'")
                : Optional.empty();
    }

    /** @throws TakeOverException the cluster could not be opened, see {@link #unrecorded} */
    void requireRecorded(Found found) {
        unrecorded(found).ifPresent(why -> {
            throw new TakeOverException(why);
        });
    }

    /**
     * What prevents the mirror from running in both directions at a cluster.
     *
     * @param all each with the remedy
     * @param isReadOnly whether the user may write neither keys nor records there
     * @param found null if it is not readable
     */
    record Problems(
            List<String> all, boolean isReadOnly, @Nullable Found found) {
        long epoch() {
            return found == null ? 0 : found.epoch();
        }
    }

    /**
     * Finds {@link Problems} with the user of the cluster's calls. Changes nothing.
     *
     * @param user of the calls; null if it has no password
     * @param mirrored the mirror's keys there
     * @throws TakeOverException the cluster does not respond, or refuses the login
     */
    Problems problems(@Nullable String user, List<KeyRange> mirrored) {
        List<String> problems = new ArrayList<>();
        Found found = null;
        try {
            found = read();
            if (found.record() == null) {
                problems.add(cluster.shown() + " has no primary record of mirror " + mirror
                        + ": it was created by hand, or the mirror never ran. Start the mirror and wait until"
                        + " it is synced");
            }
        } catch (TakeOverException e) {
            if (e.getCause() instanceof CallFailedException && !isDenied(e)) {
                throw e;
            }
            // What is denied is found again below, with its remedy.
            if (!isDenied(e)) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }
        List<KeyRange> needed = new ArrayList<>(mirrored);
        needed.add(ReservedKeys.RANGE);
        boolean isReadOnly = true;
        for (KeyRange range : needed) {
            Optional<String> denied = denied(range);
            isReadOnly &= denied.filter(what -> what.endsWith("write")).isPresent();
            denied.ifPresent(what -> {
                String role = role(user);
                problems.add(cluster.shown() + ": " + (user == null ? "the mirror's user" : "user " + user)
                        + " must not "
                        + what + " keys " + shown(range) + ", which a mirror in both directions does. Run as root: "
                        + grant(role, range));
            });
        }
        return new Problems(problems, isReadOnly, found);
    }

    /** The role to extend; a user may read its own. */
    private String role(@Nullable String user) {
        try {
            return user == null
                    ? "ROLE"
                    : cluster.rolesOf(user).stream()
                            .filter(role -> !role.equals("root"))
                            .findFirst()
                            .orElse("ROLE");
        } catch (TakeOverException e) {
            return "ROLE";
        }
    }

    private static String shown(KeyRange range) {
        String from = "\"" + TextFormat.escapeBytes(range.etcdKey()) + "\"";
        return range.to() == null
                ? "from " + from
                : "from " + from + " to before \"" + TextFormat.escapeBytes(range.to()) + "\"";
    }

    /** The command that grants a role to read and write a range. An argument cannot hold the zero byte of a reserved key. */
    private static String grant(String role, KeyRange range) {
        String command = "etcdctl role grant-permission " + role + " readwrite ";
        if (range.isAll()) {
            return command + "--prefix ''";
        }
        if (isText(range.from()) && range.equals(KeyRange.prefix(range.from()))) {
            return command + "--prefix '" + range.from().toStringUtf8() + "'";
        }
        if (isText(range.from()) && isText(range.etcdRangeEnd())) {
            return command + "'" + range.from().toStringUtf8() + "' '"
                    + range.etcdRangeEnd().toStringUtf8() + "'";
        }
        Base64.Encoder base64 = Base64.getEncoder();
        return "curl -H \"Authorization: $TOKEN\" $ENDPOINT/v3/auth/role/grant -d '{\"name\": \"" + role
                + "\", \"perm\": {\"permType\": \"READWRITE\", \"key\": \""
                + base64.encodeToString(range.etcdKey().toByteArray()) + "\", \"range_end\": \""
                + base64.encodeToString(range.etcdRangeEnd().toByteArray()) + "\"}}'";
    }

    private static boolean isText(ByteString key) {
        return TextFormat.escapeBytes(key).equals(key.toStringUtf8());
    }

    /** Of an access to a range: {@code read}, {@code write} or both. */
    private Optional<String> denied(KeyRange range) {
        boolean reads = isPermitted(RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder()
                        .setKey(range.etcdKey())
                        .setRangeEnd(range.etcdRangeEnd())
                        .setLimit(1)
                        .build())
                .build());
        // Permission to delete is permission to put, and a full quota refuses no deletion.
        boolean writes = isPermitted(delete(range));
        if (reads && writes) {
            return Optional.empty();
        }
        return Optional.of(reads ? "write" : writes ? "read" : "read and write");
    }

    /** Whether etcd permits an operation. It checks both branches, and without comparisons runs only the other one. */
    private boolean isPermitted(RequestOp operation) {
        try {
            var unused = cluster.txn(
                    "a check of permissions",
                    TxnRequest.newBuilder().addFailure(operation).build());
            return true;
        } catch (TakeOverException e) {
            if (isDenied(e)) {
                return false;
            }
            throw e;
        }
    }

    static boolean isDenied(TakeOverException e) {
        return e.getCause() instanceof CallFailedException failed && failed.error() == EtcdError.PERMISSION_DENIED;
    }

    /**
     * Finds the cluster's revision at which its checkpoint reached a revision of its source, or that of {@code found} if it
     * is lower. Bisects.
     *
     * @throws TakeOverException also if the revision before is compacted: it may have been reached earlier
     */
    long reachedAt(Found found, long wanted) {
        Checkpoint last = found.checkpoint();
        if (last == null) {
            throw new TakeOverException(cluster.shown() + " has no checkpoint of mirror " + mirror);
        }
        long least = Math.min(wanted, last.revision().value());
        long before = 0;
        long reached = found.revision();
        while (reached - before > 1) {
            long middle = before + (reached - before) / 2;
            if (hadReached(last, least, middle)) {
                reached = middle;
            } else {
                before = middle;
            }
        }
        // Fails if it is compacted.
        var unused = had(ReservedKeys.checkpoint(mirror), reached - 1);
        return reached;
    }

    /** Whether the cluster had a key at a revision. */
    boolean had(ByteString key, long revision) {
        RangeRequest past = RangeRequest.newBuilder()
                .setKey(key)
                .setRevision(revision)
                .setCountOnly(true)
                .build();
        return cluster.range(past).getCount() > 0;
    }

    private boolean hadReached(Checkpoint last, long wanted, long revision) {
        RangeRequest past = RangeRequest.newBuilder()
                .setKey(ReservedKeys.checkpoint(mirror))
                .setRevision(revision)
                .build();
        try {
            return cluster.range(past).getKvsList().stream()
                    .map(this::checkpoint)
                    .anyMatch(then -> then.source().equals(last.source())
                            && then.revision().value() >= wanted);
        } catch (TakeOverException e) {
            if (e.getCause() instanceof CallFailedException failed && failed.error() == EtcdError.COMPACTED) {
                return false;
            }
            throw e;
        }
    }

    /**
     * Stores the record if it has not changed since it was read.
     *
     * @param compares what else must hold
     * @param more what else is done in that transaction
     * @return at which revision it was stored, perhaps by an attempt that was not answered; 0 if it was not
     */
    long write(Home record, long before, List<Compare> compares, List<RequestOp> more) {
        ByteString key = ReservedKeys.home(mirror);
        TxnResponse answer = cluster.txn(
                "the primary record",
                TxnRequest.newBuilder()
                        .addCompare(isAt(key, before))
                        .addAllCompare(compares)
                        .addSuccess(put(key, record.encode()))
                        .addAllSuccess(more)
                        .addFailure(get(key))
                        .build());
        if (answer.getSucceeded()) {
            return answer.getHeader().getRevision();
        }
        return first(answer, 0)
                .filter(found ->
                        found.getModRevision() > before && found.getValue().equals(record.encode()))
                .map(KeyValue::getModRevision)
                .orElse(0L);
    }

    /** Marks that a process closes the cluster. Users and roles are not copied meanwhile, into it or from it. */
    List<RequestOp> frozen(Closed how, String process) {
        return how.way() == Way.NONE
                ? List.of()
                : List.of(put(ReservedKeys.freeze(mirror), ByteString.copyFromUtf8(process)));
    }

    /** The cluster is open again. */
    RequestOp unfrozen() {
        return delete(ReservedKeys.freeze(mirror));
    }

    static Home decoded(TakeOverCalls cluster, KeyValue found) {
        try {
            return Home.decode(cluster.shown(), found.getValue());
        } catch (IllegalArgumentException e) {
            throw new TakeOverException(String.valueOf(e.getMessage()), e);
        }
    }

    private Checkpoint checkpoint(KeyValue found) {
        try {
            return CheckpointCodec.decode(cluster.shown(), found.getValue());
        } catch (CorruptCheckpointException e) {
            throw new TakeOverException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Those that the mirror into this cluster keeps. Not those of the range's keys: etcd 3.7 omits them where it omits values. */
    List<Long> leases() {
        KeyRange registers = ReservedKeys.all(mirror, "lease/");
        List<Long> leases = new ArrayList<>();
        keys(
                cluster,
                registers,
                page -> page.forEach(key -> leases.add(Long.parseUnsignedLong(
                        key.substring(registers.from().size()).toStringUtf8(), 16))));
        return leases;
    }

    /** The keys of a range, in order. */
    static void keys(TakeOverCalls cluster, KeyRange range, Consumer<List<ByteString>> pages) {
        ByteString next = range.etcdKey();
        while (next != null) {
            RangeResponse page = cluster.range(RangeRequest.newBuilder()
                    .setKey(next)
                    .setRangeEnd(range.etcdRangeEnd())
                    .setKeysOnly(true)
                    .setLimit(PAGE_KEYS)
                    .build());
            List<ByteString> keys =
                    page.getKvsList().stream().map(KeyValue::getKey).toList();
            pages.accept(keys);
            next = page.getMore() ? KeyRange.single(keys.get(keys.size() - 1)).etcdRangeEnd() : null;
        }
    }

    private static Optional<KeyValue> first(TxnResponse answer, int index) {
        List<ResponseOp> responses = answer.getResponsesList();
        return responses.get(index).getResponseRange().getKvsList().stream().findFirst();
    }

    static Compare isAt(ByteString key, long revision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setModRevision(revision)
                .build();
    }

    static RequestOp get(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder().setKey(key))
                .build();
    }

    static RequestOp delete(ByteString key) {
        return delete(KeyRange.single(key));
    }

    static RequestOp delete(KeyRange range) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(
                        DeleteRangeRequest.newBuilder().setKey(range.etcdKey()).setRangeEnd(range.etcdRangeEnd()))
                .build();
    }

    static RequestOp put(ByteString key, ByteString value) {
        return put(key, value, 0);
    }

    static RequestOp put(ByteString key, ByteString value, long lease) {
        return RequestOp.newBuilder()
                .setRequestPut(
                        PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease))
                .build();
    }
}
