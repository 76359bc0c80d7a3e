package io.understudy.vocabulary;

import java.util.List;

/**
 * Every change made at one revision: the atomic unit everywhere.
 *
 * <p>On a feed of a part of the key space, the changes are those inside that part.
 *
 * @param changes in etcd's order, at least one; each put carries {@code revision} as its mod revision
 */
public record Commit(Revision revision, List<Change> changes) {

    public Commit {
        changes = List.copyOf(changes);
        if (changes.isEmpty()) {
            throw new IllegalArgumentException("commit at revision " + revision + " has no changes");
        }
        for (Change change : changes) {
            if (change instanceof Change.Put put
                    && !put.keyValue().modRevision().equals(revision)) {
                throw new IllegalArgumentException("commit at revision " + revision + " has a put at revision "
                        + put.keyValue().modRevision());
            }
        }
    }

    /** Bytes of all keys and values. */
    public long bytes() {
        long sum = 0;
        for (Change change : changes) {
            sum += change.bytes();
        }
        return sum;
    }
}
