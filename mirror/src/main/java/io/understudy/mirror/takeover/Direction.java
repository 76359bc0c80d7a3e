package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * From where to where the primary role of a mirror moves, and the steps that all moves have. Each can be repeated. One thread.
 *
 * @param scope of the mirror from {@code from} to {@code to}
 * @param keepsLeases whether keys have the same leases on both sides
 * @param lock of the command that moves it; the requests to both clusters require it
 */
record Direction(
        String mirror,
        MirrorScope scope,
        TakeOverCalls from,
        TakeOverCalls to,
        Closing closingFrom,
        Closing closingTo,
        Comparer comparer,
        boolean keepsLeases,
        Lock lock) {

    private static final int ATTEMPTS = 5;

    /** Compares the two clusters, while clients write. */
    interface Comparer extends AutoCloseable {

        /** Both revisions at which the clusters were equal. */
        record Equal(long from, long to, long keys) {}

        /**
         * Compares all keys, values and leases.
         *
         * @throws TakeOverException they differ, or cannot be compared
         */
        Equal all();

        /**
         * Compares what changed on either side since {@code before}, at the checkpoint of the second cluster.
         *
         * @throws TakeOverException likewise
         */
        Equal changed(Equal before);

        /**
         * Returns keys that clients of the first cluster changed and the other one lacks. They changed in {@code (after, until]}
         * and differ from their state at {@code until}.
         *
         * @throws TakeOverException not known
         */
        Lost lostBetween(long after, long until);

        /**
         * Whether clients of the first cluster changed keys in {@code (after, until]}, or may have: its history is compacted.
         * Keys that expired with their leases do not count.
         */
        boolean hasWrites(long after, long until);

        /**
         * The keys that clients of the first cluster changed after a checkpoint of it, likewise. Unknown if its history is
         * another one, as after it was restored, or cannot be recognised.
         */
        Lost lostAfter(Checkpoint reached);

        /**
         * Returns keys that clients of the second cluster changed since {@code before}, up to a revision, and that the
         * first one has otherwise.
         *
         * @param firstAt revision of the first cluster; 0 for the present one
         */
        List<ByteString> overwritten(Equal before, long until, long firstAt);

        /** Gives each key that the clusters do not have equally; clients may write at the second one meanwhile. */
        void differing(Consumer<ByteString> each);

        /**
         * Returns keys that one of both lost after its revision, not by the mirror. They expired with their leases, or
         * clients deleted them.
         *
         * @param until revision of the cluster; 0 for the present one
         * @param expired leaves out keys without leases, and with leases that the cluster still has: these did not expire
         * @throws TakeOverException not known
         */
        List<ByteString> missingSince(TakeOverCalls cluster, long revision, long until, boolean expired);

        /**
         * Returns the last commit of the second cluster up to that revision, as the reversed mirror's feed delivers it:
         * the feed resumes at the revision if its history has the commit. Null if none is found soon.
         */
        @Nullable Anchor anchor(long revision);

        /** Whether the mirror's feeds read marks. */
        default boolean readsMarks() {
            return true;
        }

        /** Ends what {@link #changed} keeps open for the next time. */
        @Override
        default void close() {}

        /** Names keys; {@code unknown} is why there may be more, null if there are none. */
        record Lost(List<ByteString> keys, @Nullable String unknown) {
            static final Lost NOTHING = new Lost(List.of(), null);

            static Lost unknown(String why) {
                return new Lost(List.of(), why);
            }

            Lost and(Lost other) {
                return new Lost(
                        Stream.concat(keys.stream(), other.keys.stream())
                                .distinct()
                                .toList(),
                        unknown == null ? other.unknown : unknown);
            }

            /** In one line. */
            String shown(LostKeys all) {
                return unknown == null ? all.shown() : "not known: " + unknown;
            }
        }
    }

    /** Of an undo, which compares nothing. */
    Direction reversed() {
        return new Direction(mirror, scope.reversed(), to, from, closingTo, closingFrom, comparer, keepsLeases, lock);
    }

    Records recordsFrom() {
        return new Records(from, mirror);
    }

    Records recordsTo() {
        return new Records(to, mirror);
    }

    /** Once the role has moved to the second cluster. */
    String moved(Found primary) {
        return "The primary of mirror " + mirror + " is now " + to.shown() + " (cluster " + primary.cluster() + ")";
    }

    /**
     * Finds keys that expired at the first cluster since a command that was killed has closed it: their owners' keep-alives
     * are rejected there. Under an alarm nothing expires, nor if the command was killed before. To be called before it is
     * closed or opened again.
     */
    Lost expiredSince(Found closed) {
        return expiredSince(closed, isOpen(closed));
    }

    /** Whether a command that was killed has closed nothing of the first cluster. */
    boolean isOpen(Found closed) {
        Closed how = closed.move().closed();
        return how == null || closingFrom.isOpen(how);
    }

    /** @param wasOpen whether {@link #isOpen} held before it was closed again */
    Lost expiredSince(Found closed, boolean wasOpen) {
        Closed how = closed.move().closed();
        if (wasOpen || how == null || (how.way() != Way.ROLES && how.way() != Way.AUTH_ENABLE)) {
            return Lost.NOTHING;
        }
        try {
            // Between the record and the closing clients still delete keys.
            return new Lost(comparer.missingSince(from, closed.recordRevision(), 0, true), null);
        } catch (TakeOverException e) {
            return Lost.unknown(String.valueOf(e.getMessage()));
        }
    }

    /** Finds keys that are missing once the first cluster is open again; likewise. */
    Lost lostByOpening(Found closed) {
        return lostByOpening(closed, isOpen(closed));
    }

    /** @param wasOpen likewise */
    Lost lostByOpening(Found closed, boolean wasOpen) {
        Closed how = closed.move().closed();
        if (wasOpen || how == null || how.way() != Way.CORRUPT_ALARM) {
            return expiredSince(closed, wasOpen);
        }
        try {
            // Where authentication was enabled too, owners could keep none alive; overdue ones end with the alarm.
            List<Long> leases = from.isAuthEnabled() ? recordsTo().leases() : List.of();
            if (leases.isEmpty() || from.with(Duration.ZERO).keepAlive(leases).size() == leases.size()) {
                return Lost.NOTHING;
            }
            return Lost.unknown("leases expired while the CORRUPT alarm was raised");
        } catch (TakeOverException e) {
            return Lost.unknown("leases may have expired while the CORRUPT alarm was raised: " + e.getMessage());
        }
    }

    /**
     * Refuses a move to a closed cluster that could not be opened afterwards. After a failover that was killed before it
     * opened that cluster, a running mirror closes the former primary nevertheless: both stay closed, and no write is lost.
     */
    void requireOpenable(Found found) {
        if (Rejoin.begun(found) != null) {
            closingTo.others().requireReadable();
        }
    }

    /** Does what is left once the role has moved there: without that, a failure reads as if it had not. */
    <T> T afterMove(Supplier<T> rest) {
        try {
            return rest.get();
        } catch (Undo.StaysClosed e) {
            throw e;
        } catch (RuntimeException e) {
            throw new TakeOverException(
                    "the primary role of mirror " + mirror + " has moved to " + to.shown() + "; the rest failed: "
                            + (e.getMessage() == null ? e.toString() : e.getMessage()) + ". Run the command again",
                    e);
        }
    }

    /** A new one of this command. */
    Operation operation(String kind) {
        return new Operation(UUID.randomUUID().toString(), kind, lock.process(), Instant.now());
    }

    /**
     * Makes the second cluster the primary under a higher epoch, which fences a mirror that writes there.
     *
     * @param whole requires that it is a whole copy at that moment; null if it need not be
     */
    void raise(Found found, long epoch, Operation operation, Move move, @Nullable Consumer<Found> whole) {
        Records records = recordsTo();
        Home moved = found.required()
                .movedTo(found.cluster(), epoch, operation.startedAt())
                .turned()
                .with(move);
        List<Compare> copied =
                // Each snapshot begins with that key, and leaves no whole state until it ends.
                whole == null ? List.of() : List.of(Records.isAt(ReservedKeys.of(mirror, "lane/0"), 0));
        Found now = found;
        for (int attempt = 0; attempt < ATTEMPTS && now.recordRevision() == found.recordRevision(); attempt++) {
            if (whole != null) {
                // Before its state is read: the mirror may leave a part of a commit.
                TxnRequest fence = TxnRequest.newBuilder()
                        .addCompare(isWriter(now))
                        .addAllSuccess(fence(operation))
                        .build();
                boolean isFenced = to.txn("the epoch", fence).getSucceeded();
                now = records.read();
                if (!isFenced) {
                    continue;
                }
                whole.accept(now);
            }
            if (raised(moved, now, copied, operation)) {
                return;
            }
            // A mirror process has started.
            now = records.read();
        }
        throw new TakeOverException("the mirror or another command changed mirror " + mirror + " at " + to.shown()
                + " meanwhile; run the command again");
    }

    private boolean raised(Home moved, Found now, List<Compare> copied, Operation operation) {
        List<Compare> compares =
                Stream.concat(copied.stream(), Stream.of(isWriter(now))).toList();
        try {
            return recordsTo().write(moved, now.recordRevision(), compares, fence(operation)) > 0;
        } catch (TakeOverException e) {
            if (e.getCause() instanceof CallFailedException failed && failed.isRefused()) {
                throw e;
            }
            throw new TakeOverException(
                    e.getMessage() + ". Whether the primary role has moved to " + to.shown()
                            + " is unknown: keep clients away from both clusters, and run the command again",
                    e);
        }
    }

    private Compare isWriter(Found found) {
        return Records.isAt(ReservedKeys.epoch(mirror), found.epochRevision());
    }

    private List<RequestOp> fence(Operation operation) {
        return List.of(
                Records.put(ReservedKeys.epoch(mirror), ByteString.copyFromUtf8(operation.id())),
                // The active process finds it deleted, begins again, and turns the mirror round.
                Records.delete(ReservedKeys.active(mirror)));
    }

    /**
     * Records the former primary as such, with the first checkpoint of the turned mirror. A snapshot that a mirror into it
     * left unfinished is not continued: clients wrote there since.
     *
     * @param planned whether it is as the new primary was at the move
     */
    boolean turn(Found primary, Found former, Operation operation, boolean planned) {
        Closed closed = former.move().closed();
        Closed settled = closed == null || closed.way() == Way.NONE ? null : closingFrom.settle(closed);
        Home record = primary.required();
        Checkpoint before = former.checkpoint();
        Checkpoint reversed = new Checkpoint(
                primary.cluster(),
                record.scope(),
                // Until the move is complete, the record there is that of the moving transaction.
                new Revision(primary.recordRevision()),
                planned ? comparer.anchor(primary.recordRevision()) : null,
                before == null ? 1 : before.epoch() + 1,
                operation.process() + " " + operation.id(),
                List.of(primary.cluster()),
                operation.startedAt(),
                planned && settled != null && keepsLeases ? CheckpointState.SYNCED : CheckpointState.SYNCING);
        // Up to there it has all writes, which an unplanned turn does not promise.
        long marker = planned ? primary.move().endMarker() : 0;
        Move turned = new Move(Phase.STEADY, operation, primary.move().verifiedAt(), marker, settled);
        List<RequestOp> begun = List.of(
                Records.put(ReservedKeys.checkpoint(mirror), CheckpointCodec.encode(reversed)),
                Records.put(ReservedKeys.epoch(mirror), ByteString.copyFromUtf8(operation.id())),
                Records.delete(ReservedKeys.lanes(mirror)),
                comparer.readsMarks()
                        ? Records.delete(ReservedKeys.unmarked(mirror))
                        : Records.put(ReservedKeys.unmarked(mirror), ByteString.EMPTY));
        return recordsFrom().write(record.with(turned), former.recordRevision(), List.of(), begun) > 0;
    }

    /** Leaves leases that the mirror kept alive to their owners, with a full TTL; returns them. */
    List<Long> releaseLeases() {
        // First, and without registers too: a later mirror into this cluster has to find leases that clients granted.
        deleteRegister(KeyRange.single(ReservedKeys.wholeLeases(mirror)));
        List<Long> registered = recordsTo().leases();
        var unused = to.keepAlive(registered);
        if (!registered.isEmpty()) {
            deleteRegister(ReservedKeys.all(mirror, "lease/"));
        }
        return registered;
    }

    private void deleteRegister(KeyRange range) {
        TxnRequest delete =
                TxnRequest.newBuilder().addSuccess(Records.delete(range)).build();
        var unused = to.txn("the lease register", delete);
    }
}
