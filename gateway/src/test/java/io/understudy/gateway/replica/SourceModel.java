package io.understudy.gateway.replica;

import static io.understudy.vocabulary.KeyRange.KEY_ORDER;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A naive store: all keys at every revision. */
final class SourceModel {

    private final List<NavigableMap<ByteString, KeyValue>> revisions = new ArrayList<>();

    private final List<List<Change>> changes = new ArrayList<>(List.of(List.of(), List.of()));

    SourceModel() {
        revisions.add(new TreeMap<>(KEY_ORDER));
        revisions.add(new TreeMap<>(KEY_ORDER));
    }

    long revision() {
        return revisions.size() - 1L;
    }

    List<KeyValue> at(long revision, KeyRange range) {
        return revisions.get((int) revision).values().stream()
                .filter(entry -> range.contains(entry.key()))
                .toList();
    }

    /** Returns the changes in the range of the commit at that revision. */
    List<Change> changes(long revision, KeyRange range) {
        return changes.get((int) revision).stream()
                .filter(change -> range.contains(change.key()))
                .toList();
    }

    /** Puts and, where the value is empty, deletes, at one new revision; returns only changes in the range. */
    List<Change> write(Map<ByteString, String> values, KeyRange range) {
        long revision = revision() + 1;
        NavigableMap<ByteString, KeyValue> next = new TreeMap<>(revisions.get(revisions.size() - 1));
        List<Change> made = new ArrayList<>();
        values.forEach((key, value) -> {
            KeyValue before = next.get(key);
            Change change;
            if (value.isEmpty()) {
                if (before == null) {
                    return;
                }
                next.remove(key);
                change = new Change.Delete(key);
            } else {
                KeyValue put = Keys.entry(
                        key,
                        value,
                        before == null ? revision : before.createRevision().value(),
                        revision,
                        before == null ? 1 : before.version() + 1);
                next.put(key, put);
                change = new Change.Put(put);
            }
            made.add(change);
        });
        revisions.add(next);
        changes.add(made);
        return changes(revision, range);
    }

    static Commit commit(long revision, List<Change> changes) {
        return new Commit(new Revision(revision), changes);
    }
}
