package io.understudy.mirror.revisions;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Reads a mirror's checkpoint at the current or an earlier revision of the target. Every transaction of a mirror stores
 * it, so etcd's history of this key maps revisions of the target to those of the source.
 *
 * <p>Reads from the target's voting members, linearizably. Each attempt has the cluster's deadline; failed ones are
 * retried at other members for a while. Any thread.
 */
public final class CheckpointHistory {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final long PAUSE_MILLIS = 50;

    private final String mirror;
    private final ByteString key;
    private final String shownKey;
    private final ClusterCalls calls;

    /** @param target closed by the caller */
    public CheckpointHistory(String mirror, EtcdCluster target) {
        this.mirror = mirror;
        this.key = ReservedKeys.checkpoint(mirror);
        this.shownKey = "key \"" + TextFormat.escapeBytes(key) + "\"";
        this.calls = new ClusterCalls(target, Duty.WRITE, target.settings().requestTimeout());
    }

    /** Returns the target's current state: its keys at {@link Moment#revision} are those of the checkpoint. */
    public Moment now() throws TargetUnreadableException, InterruptedException {
        return at(Revision.ZERO)
                .orElseThrow(
                        () -> new TargetUnreadableException("the target reports its current revision as compacted"));
    }

    /**
     * Returns the target's state at a revision; empty if compacted.
     *
     * @param revision one that the target has reached
     */
    public Optional<Moment> at(Revision revision) throws TargetUnreadableException, InterruptedException {
        Optional<RangeResponse> answer = read(key, revision);
        return answer.isEmpty() ? Optional.empty() : Optional.of(moment(revision, answer.get()));
    }

    /**
     * Returns the first moment with complete deletions in later history, as known at {@code now}. That is the end of
     * the last resync, or {@code now} without a record.
     */
    Moment resumable(Moment now) throws TargetUnreadableException, InterruptedException {
        RangeResponse answer =
                read(ReservedKeys.resumable(mirror), now.revision()).orElseGet(RangeResponse::getDefaultInstance);
        Moment recorded = moment(now.revision(), answer);
        return recorded.isOf(now) ? recorded : now;
    }

    /** Returns since when the target is the mirror's primary; empty if it is not. */
    public Optional<Instant> homeSince() throws TargetUnreadableException, InterruptedException {
        return homeSince(Revision.ZERO);
    }

    /** Whether the target's record at that revision names it the primary; false if compacted. */
    boolean isHomeAt(Revision revision) throws TargetUnreadableException, InterruptedException {
        return homeSince(revision).isPresent();
    }

    private Optional<Instant> homeSince(Revision revision) throws TargetUnreadableException, InterruptedException {
        RangeResponse answer = read(ReservedKeys.home(mirror), revision).orElseGet(RangeResponse::getDefaultInstance);
        if (answer.getKvsCount() == 0) {
            return Optional.empty();
        }
        try {
            Home home = Home.decode(
                    "the target of mirror " + mirror, answer.getKvs(0).getValue());
            boolean isHere = home.cluster().value() == answer.getHeader().getClusterId();
            return isHere ? Optional.of(home.at()) : Optional.empty();
        } catch (IllegalArgumentException e) {
            throw new TargetUnreadableException(String.valueOf(e.getMessage()), e);
        }
    }

    private Optional<RangeResponse> read(ByteString key, Revision revision)
            throws TargetUnreadableException, InterruptedException {
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(key)
                .setRevision(revision.value())
                .build();
        long giveUpAt = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return Optional.of(calls.kv(stub -> stub.range(request)));
            } catch (CallFailedException e) {
                if (e.error() == EtcdError.COMPACTED) {
                    return Optional.empty();
                }
                if (e.isFinal() || System.nanoTime() - giveUpAt >= 0) {
                    throw new TargetUnreadableException(
                            "cannot read key \"" + TextFormat.escapeBytes(key) + "\" of the target: " + e.getMessage(),
                            e);
                }
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    private Moment moment(Revision requested, RangeResponse answer) throws TargetUnreadableException {
        ClusterId cluster = new ClusterId(answer.getHeader().getClusterId());
        // A read of the past answers with the present revision in its header.
        Revision revision = requested.equals(Revision.ZERO)
                ? new Revision(answer.getHeader().getRevision())
                : requested;
        if (answer.getKvsCount() == 0) {
            return new Moment(cluster, revision, Revision.ZERO, Revision.ZERO, null);
        }
        KeyValue found = answer.getKvs(0);
        try {
            return new Moment(
                    cluster,
                    revision,
                    new Revision(found.getCreateRevision()),
                    new Revision(found.getModRevision()),
                    CheckpointCodec.decode(shownKey, found.getValue()));
        } catch (CorruptCheckpointException e) {
            throw new TargetUnreadableException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The checkpoint could not be read from the target; the message has the cause. */
    public static final class TargetUnreadableException extends Exception {
        TargetUnreadableException(String message, Throwable cause) {
            super(message, cause);
        }

        TargetUnreadableException(String message) {
            super(message);
        }
    }
}
