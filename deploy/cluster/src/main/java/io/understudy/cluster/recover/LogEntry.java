package io.understudy.cluster.recover;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An entry of a Raft log ({@code raftpb.Entry}).
 *
 * @param type as in {@code raftpb.EntryType}
 */
record LogEntry(LogPosition at, long type, ByteString data) {

    private static final long CHANGE = 1;
    private static final long CHANGE_V2 = 2;

    /** Field numbers of {@code etcdserverpb.InternalRaftRequest}. */
    private static final int PUT = 4;

    private static final int DELETE_RANGE = 5;
    private static final int TXN = 6;
    private static final Map<Integer, String> OTHERS =
            Map.of(7, "compaction", 8, "lease grant", 9, "lease revocation", 10, "alarm", 11, "lease checkpoint");

    /** Kinds in the order of {@code raftpb.ConfChangeType}. */
    enum Kind {
        ADD_VOTER,
        REMOVE,
        UPDATE,
        ADD_LEARNER
    }

    record Change(Kind kind, long member) {}

    static LogEntry parse(ByteString bytes) throws InvalidProtocolBufferException {
        UnknownFieldSet fields = UnknownFieldSet.parseFrom(bytes);
        return new LogEntry(
                new LogPosition(Fields.number(fields, 2), Fields.number(fields, 3)),
                Fields.number(fields, 1),
                Fields.bytes(fields, 4));
    }

    boolean changesMembers() {
        return type == CHANGE || type == CHANGE_V2;
    }

    /** The changes of the configuration; none for other entries. */
    List<Change> changes() {
        try {
            if (type == CHANGE) {
                UnknownFieldSet fields = UnknownFieldSet.parseFrom(data);
                return List.of(change(Fields.number(fields, 2), Fields.number(fields, 3)));
            }
            if (type == CHANGE_V2) {
                List<Change> changes = new ArrayList<>();
                for (ByteString each :
                        UnknownFieldSet.parseFrom(data).getField(2).getLengthDelimitedList()) {
                    UnknownFieldSet fields = UnknownFieldSet.parseFrom(each);
                    changes.add(change(Fields.number(fields, 1), Fields.number(fields, 2)));
                }
                return changes;
            }
            return List.of();
        } catch (InvalidProtocolBufferException e) {
            throw new RecoveryException("entry " + at + " has an unknown membership change", e);
        }
    }

    private static Change change(long kind, long member) throws InvalidProtocolBufferException {
        if (kind < 0 || kind >= Kind.values().length) {
            throw new InvalidProtocolBufferException("kind " + kind);
        }
        return new Change(Kind.values()[(int) kind], member);
    }

    /** Returns one line for an operator: the request and its keys. Empty for Raft's own entries. */
    String description() {
        if (changesMembers()) {
            return "member change";
        }
        if (data.isEmpty()) {
            return "";
        }
        try {
            UnknownFieldSet request = UnknownFieldSet.parseFrom(data);
            if (request.hasField(PUT)) {
                return put(PutRequest.parseFrom(Fields.bytes(request, PUT)));
            }
            if (request.hasField(DELETE_RANGE)) {
                return delete(DeleteRangeRequest.parseFrom(Fields.bytes(request, DELETE_RANGE)));
            }
            if (request.hasField(TXN)) {
                return "txn (" + String.join("; ", operations(TxnRequest.parseFrom(Fields.bytes(request, TXN)))) + ")";
            }
            return OTHERS.entrySet().stream()
                    .filter(other -> request.hasField(other.getKey()))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("other");
        } catch (InvalidProtocolBufferException e) {
            return "unreadable";
        }
    }

    private static List<String> operations(TxnRequest txn) {
        return Stream.concat(txn.getSuccessList().stream(), txn.getFailureList().stream())
                .flatMap(LogEntry::operation)
                .distinct()
                .toList();
    }

    private static Stream<String> operation(RequestOp operation) {
        return switch (operation.getRequestCase()) {
            case REQUEST_PUT -> Stream.of(put(operation.getRequestPut()));
            case REQUEST_DELETE_RANGE -> Stream.of(delete(operation.getRequestDeleteRange()));
            case REQUEST_TXN -> operations(operation.getRequestTxn()).stream();
            default -> Stream.of();
        };
    }

    private static String put(PutRequest put) {
        return "put " + text(put.getKey());
    }

    private static String delete(DeleteRangeRequest delete) {
        return "delete " + text(delete.getKey())
                + (delete.getRangeEnd().isEmpty() ? "" : " to " + text(delete.getRangeEnd()));
    }

    private static String text(ByteString key) {
        StringBuilder text = new StringBuilder();
        key.toStringUtf8()
                .codePoints()
                .forEach(each -> text.append(Character.isISOControl(each) ? "?" : Character.toString(each)));
        return text.toString();
    }

    /** Values of a message without a generated class. The last one counts, an absent one is zero. */
    static final class Fields {

        private Fields() {}

        static long number(UnknownFieldSet fields, int number) {
            List<Long> values = fields.getField(number).getVarintList();
            return values.isEmpty() ? 0 : values.get(values.size() - 1);
        }

        static ByteString bytes(UnknownFieldSet fields, int number) {
            List<ByteString> values = fields.getField(number).getLengthDelimitedList();
            return values.isEmpty() ? ByteString.EMPTY : values.get(values.size() - 1);
        }

        static UnknownFieldSet.Field number(long value) {
            return UnknownFieldSet.Field.newBuilder().addVarint(value).build();
        }

        static UnknownFieldSet.Field bytes(ByteString value) {
            return UnknownFieldSet.Field.newBuilder().addLengthDelimited(value).build();
        }
    }

    /**
     * The place of an entry in a Raft log.
     *
     * <p>Raft's order of logs (section 5.4.1 of its paper): the last entry's term, then its index.
     */
    record LogPosition(long term, long index) implements Comparable<LogPosition> {

        static final LogPosition NONE = new LogPosition(0, 0);

        private static final Comparator<LogPosition> ORDER =
                Comparator.comparingLong(LogPosition::term).thenComparingLong(LogPosition::index);

        @Override
        public int compareTo(LogPosition other) {
            return ORDER.compare(this, other);
        }

        @Override
        public String toString() {
            return "term " + term + ", index " + index;
        }
    }

    /** The member IDs of a Raft configuration. */
    record Voting(Set<Long> voters, Set<Long> learners) {

        static final Voting NONE = new Voting(Set.of(), Set.of());

        Voting {
            voters = Set.copyOf(voters);
            learners = Set.copyOf(learners);
        }

        int quorum() {
            return voters.size() / 2 + 1;
        }

        Set<Long> all() {
            return Stream.concat(voters.stream(), learners.stream()).collect(Collectors.toSet());
        }

        Voting within(Set<Long> members) {
            return new Voting(
                    voters.stream().filter(members::contains).collect(Collectors.toSet()),
                    learners.stream().filter(members::contains).collect(Collectors.toSet()));
        }

        /** The configuration after an entry was applied. */
        Voting after(LogEntry entry) {
            Set<Long> newVoters = new HashSet<>(voters);
            Set<Long> newLearners = new HashSet<>(learners);
            for (LogEntry.Change change : entry.changes()) {
                switch (change.kind()) {
                    case ADD_VOTER -> {
                        newVoters.add(change.member());
                        newLearners.remove(change.member());
                    }
                    case ADD_LEARNER -> {
                        newLearners.add(change.member());
                        newVoters.remove(change.member());
                    }
                    case REMOVE -> {
                        newVoters.remove(change.member());
                        newLearners.remove(change.member());
                    }
                    case UPDATE -> {
                        // URLs only.
                    }
                }
            }
            return new Voting(newVoters, newLearners);
        }
    }
}
