package io.understudy.feed;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The reference model: what a consumer's state must be, and the feed's invariants F1 to F3 checked on every event. A
 * put must follow on the version this model holds, so one missing or repeated commit of a key shows at the next. May be
 * read from any thread while a feed drives it.
 */
public final class ModelConsumer implements FeedConsumer {

    private final KeyRange range;
    private TreeMap<ByteString, KeyValue> state = new TreeMap<>(KeyRange.KEY_ORDER);
    private TreeMap<ByteString, KeyValue> staged = new TreeMap<>(KeyRange.KEY_ORDER);
    private @Nullable ByteString coveredTo;
    private @Nullable Position position;
    private @Nullable Position pin;
    private boolean snapshotUnderWay;
    private int snapshots;
    private long commits;
    private long marks;
    private boolean announcedRecognised;
    private boolean recognised;
    private @Nullable Revision replaced;

    public ModelConsumer(KeyRange range) {
        this.range = range;
    }

    @Override
    public synchronized void historyRecognised() {
        assertThat(snapshotUnderWay)
                .as("history is recognised before a snapshot")
                .isFalse();
        announcedRecognised = true;
    }

    @Override
    public synchronized void commitReplaced(Revision revision) {
        assertThat(announcedRecognised)
                .as("a commit is replaced in a recognised history")
                .isTrue();
        replaced = revision;
    }

    /** The last commit that a snapshot replaced; null if none. */
    public synchronized @Nullable Revision replaced() {
        return replaced;
    }

    @Override
    public synchronized void snapshotPinned(Position at) {
        pin = at;
    }

    @Override
    public synchronized void snapshotResumed(Position at) {
        assertThat(at).isEqualTo(pin);
        snapshotUnderWay = true;
    }

    @Override
    public synchronized void snapshotStarted(ClusterId cluster, Revision revision) {
        staged = new TreeMap<>(state);
        coveredTo = range.from();
        recognised = announcedRecognised;
        announcedRecognised = false;
        snapshotUnderWay = true;
    }

    @Override
    public synchronized void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        assertThat(snapshotUnderWay).as("a page belongs to a snapshot").isTrue();
        assertThat(covered.from()).as("pages adjoin").isEqualTo(coveredTo);
        NavigableMap<ByteString, KeyValue> part = covered.to() == null
                ? staged.tailMap(covered.from(), true)
                : staged.subMap(covered.from(), true, covered.to(), false);
        part.clear();
        for (KeyValue entry : entries) {
            assertThat(covered.contains(entry.key()))
                    .as("an entry lies in its page")
                    .isTrue();
            assertThat(staged.put(entry.key(), entry))
                    .as("a key is on a page once")
                    .isNull();
        }
        coveredTo = covered.to();
    }

    @Override
    public synchronized void snapshotCompleted(Position at) {
        assertThat(snapshotUnderWay).isTrue();
        assertThat(coveredTo).as("the pages reach the range's end").isEqualTo(range.to());
        state = staged;
        snapshotUnderWay = false;
        snapshots++;
        position = at;
    }

    @Override
    public synchronized void commit(Commit commit, Position at) {
        assertThat(snapshotUnderWay).as("no commit within a snapshot").isFalse();
        assertThat(at.revision()).isEqualTo(commit.revision());
        if (position != null) {
            assertThat(commit.revision()).as("F1: revisions strictly increase").isGreaterThan(position.revision());
        }
        for (Change change : commit.changes()) {
            assertThat(range.contains(change.key())).isTrue();
            if (change instanceof Change.Put put) {
                apply(put.keyValue());
            } else {
                assertThat(state.remove(change.key()))
                        .as("F3: a deleted key %s existed at %s", change.key(), commit.revision())
                        .isNotNull();
            }
        }
        position = at;
        commits++;
    }

    @Override
    public synchronized void progress(Position at) {
        if (position != null) {
            assertThat(at.revision()).isGreaterThanOrEqualTo(position.revision());
        }
        position = at;
        marks++;
    }

    private void apply(KeyValue put) {
        KeyValue before = state.put(put.key(), put);
        if (before == null) {
            assertThat(put.version()).as("F3: %s is new", put.key()).isEqualTo(1);
            assertThat(put.createRevision()).isEqualTo(put.modRevision());
        } else {
            assertThat(put.version()).as("F3: %s follows on", put.key()).isEqualTo(before.version() + 1);
            assertThat(put.createRevision()).isEqualTo(before.createRevision());
        }
    }

    /** Starts from what another model holds, as a consumer restarted from its checkpoint does. */
    public synchronized ModelConsumer restarted() {
        ModelConsumer again = new ModelConsumer(range);
        again.state = new TreeMap<>(state);
        again.position = position;
        return again;
    }

    /** Starts within the snapshot that another model has a part of. */
    public synchronized ModelConsumer restartedWithin(UnfinishedSnapshot snapshot) {
        ModelConsumer again = new ModelConsumer(range);
        again.staged = new TreeMap<>(staged);
        again.coveredTo = coveredTo;
        again.pin = snapshot.pin();
        return again;
    }

    /** What the snapshot under way has yet to give. */
    public synchronized UnfinishedSnapshot unfinished() {
        assertThat(snapshotUnderWay).isTrue();
        assertThat(pin).as("a pinned snapshot").isNotNull();
        assertThat(coveredTo).isNotNull();
        return new UnfinishedSnapshot(pin, List.of(new KeyRange(coveredTo, range.to())));
    }

    public synchronized @Nullable Position position() {
        return position;
    }

    public synchronized List<KeyValue> state() {
        return List.copyOf(state.values());
    }

    /** Whether the last snapshot was announced to be of the history that was given before. */
    public synchronized boolean isRecognised() {
        return recognised;
    }

    public synchronized int snapshots() {
        return snapshots;
    }

    public synchronized long commits() {
        return commits;
    }

    public synchronized long marks() {
        return marks;
    }
}
