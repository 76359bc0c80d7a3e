package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One record of a mirror's topics. */
public sealed interface TopicRecord {

    /** The source's id. */
    ClusterId cluster();

    /** Revision of the put, of the deletion, or up to which a mark is complete. */
    Revision revision();

    /** Key of the put or deletion; null for a mark. */
    default @Nullable ByteString key() {
        return null;
    }

    /** What was put; null for a deletion, and for a mark. */
    default @Nullable KeyValue entry() {
        return null;
    }

    /** Whether it has no key of its own, and describes the records around it. */
    default boolean isMark() {
        return key() == null;
    }

    /**
     * One change of a commit.
     *
     * @param index of the change in its commit, from 0
     * @param size changes of the commit inside the mirror's scope
     */
    record Changed(ClusterId cluster, Revision revision, int index, int size, Change change) implements TopicRecord {
        @Override
        public ByteString key() {
            return change.key();
        }

        @Override
        public @Nullable KeyValue entry() {
            return change instanceof Change.Put put ? put.keyValue() : null;
        }
    }

    /** A key as a snapshot found it. */
    record Found(ClusterId cluster, KeyValue entry) implements TopicRecord {
        @Override
        public Revision revision() {
            return entry.modRevision();
        }

        @Override
        public ByteString key() {
            return entry.key();
        }
    }

    /** A key that is missing from a snapshot at {@code revision}. */
    record Gone(ClusterId cluster, Revision revision, ByteString key) implements TopicRecord {}

    /** A snapshot begins: up to its end, its {@link Found} and {@link Gone} follow. */
    record SnapshotBegin(ClusterId cluster, Revision revision) implements TopicRecord {}

    /**
     * The snapshot is complete: with it, what is before is the state at its revision.
     *
     * @param records of it in this partition
     */
    record SnapshotEnd(ClusterId cluster, Revision revision, long records) implements TopicRecord {}

    /**
     * All commits up to {@code revision} are before this record, in its own partition; the last record of a
     * transaction.
     *
     * @param previous of the mark before it: if that is another one, something is missing
     * @param records {@link Changed} ones in this partition since the mark before it
     * @param asOf by the mirror's clock, when the source had nothing newer; null if that was not checked
     */
    record Complete(
            ClusterId cluster,
            Revision revision,
            Revision previous,
            long records,
            @Nullable Instant asOf) implements TopicRecord {}
}
