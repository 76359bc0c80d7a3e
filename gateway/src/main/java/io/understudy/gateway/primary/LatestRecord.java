package io.understudy.gateway.primary;

import io.understudy.gateway.primary.PrimaryChoice.Seen;
import io.understudy.gateway.primary.PrimaryChoice.Side;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The latest record of one side. Watch and reads are not ordered, so an older record is ignored. Thread-safe. */
final class LatestRecord {

    private final Side side;
    private final Consumer<Seen> consumer;
    private volatile @Nullable Found latest;

    private record Found(KeyValue stored, Seen seen) {}

    LatestRecord(Side side, Consumer<Seen> consumer) {
        this.side = side;
        this.consumer = consumer;
    }

    /**
     * Decodes a record and passes it on unless older.
     *
     * @throws IllegalArgumentException if it is not a record
     */
    Seen found(ClusterId at, KeyValue stored) {
        Found known = latest;
        if (known != null && known.seen().cluster().equals(at) && known.stored().equals(stored)) {
            return known.seen();
        }
        Seen seen = new Seen(side, at, stored.modRevision(), PrimaryRecord.decode(stored.value()));
        synchronized (this) {
            Found last = latest;
            if (last == null
                    || !last.seen().cluster().equals(at)
                    || seen.revision().isAfter(last.seen().revision())) {
                latest = new Found(stored, seen);
                consumer.accept(seen);
            }
        }
        return seen;
    }

    /** Accepts any next record: a cluster that was rebuilt has another history under the same ID. */
    synchronized void restart() {
        latest = null;
    }
}
