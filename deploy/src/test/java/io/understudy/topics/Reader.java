package io.understudy.topics;

import com.google.protobuf.ByteString;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Polls a feed on a thread of its own and keeps all that it gives. */
final class Reader implements AutoCloseable {

    private final Feed feed;
    private final Kept kept = new Kept();
    private final Thread thread = new Thread(this::read, "reader");
    private volatile boolean closing;
    private volatile Optional<Exception> end = Optional.empty();

    Reader(Feed feed) {
        this.feed = feed;
        thread.start();
    }

    private void read() {
        try {
            while (!closing) {
                var unused = feed.poll(Duration.ofMillis(100), kept);
            }
        } catch (Exception e) {
            if (!closing) {
                end = Optional.of(e);
            }
        }
    }

    /** The position up to which everything was delivered, from which a feed can resume. */
    Optional<Position> position() {
        return kept.position();
    }

    /**
     * Up to where everything was given; zero before that is known.
     *
     * @throws AssertionError the feed has ended
     */
    Revision revision() {
        end.ifPresent(why -> {
            throw new AssertionError("the feed has ended", why);
        });
        return position().map(Position::revision).orElse(Revision.ZERO);
    }

    /** Where the snapshot was. */
    Revision snapshot() {
        return kept.snapshot();
    }

    /** All commits so far, in the order in which they came. */
    List<Commit> commits() {
        return kept.commits();
    }

    /** The snapshot with all commits since, in the order of keys. */
    List<KeyValue> state() {
        return kept.state();
    }

    @Override
    public void close() {
        closing = true;
        feed.close();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Kept implements FeedConsumer {

        private final List<Commit> commits = new ArrayList<>();
        private final TreeMap<ByteString, KeyValue> entries = new TreeMap<>(KeyRange.KEY_ORDER);
        private Revision snapshot = Revision.ZERO;
        private Optional<Position> position = Optional.empty();

        @Override
        public synchronized void snapshotStarted(ClusterId cluster, Revision revision) {
            snapshot = revision;
            entries.clear();
        }

        @Override
        public synchronized void snapshotPage(KeyRange covered, List<KeyValue> page) {
            page.forEach(entry -> entries.put(entry.key(), entry));
        }

        @Override
        public synchronized void snapshotCompleted(Position reached) {
            position = Optional.of(reached);
        }

        @Override
        public synchronized void commit(Commit commit, Position reached) {
            commits.add(commit);
            for (Change change : commit.changes()) {
                if (change instanceof Change.Put put) {
                    entries.put(put.key(), put.keyValue());
                } else {
                    entries.remove(change.key());
                }
            }
            position = Optional.of(reached);
        }

        @Override
        public synchronized void progress(Position reached) {
            position = Optional.of(reached);
        }

        synchronized Optional<Position> position() {
            return position;
        }

        synchronized Revision snapshot() {
            return snapshot;
        }

        synchronized List<Commit> commits() {
            return List.copyOf(commits);
        }

        synchronized List<KeyValue> state() {
            return List.copyOf(entries.values());
        }
    }
}
