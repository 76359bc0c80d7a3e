package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;

/**
 * A key with a lease, as the source has it at a revision, and the target's state of it.
 *
 * @param key as the target names it
 * @param atSource as the source names it
 * @param created its create revision at the source
 * @param lease its lease at the source
 * @param targetCreated its create revision in the target, 0 if it is missing
 * @param isAttached whether it has that lease in the target
 */
record LeasedKey(
        ByteString key, ByteString atSource, long created, long lease, long targetCreated, boolean isAttached) {

    boolean isMissing() {
        return targetCreated == 0;
    }

    /** The same, of which the target has that. */
    LeasedKey inTarget(long createdThere, boolean attachedThere) {
        return new LeasedKey(key, atSource, created, lease, createdThere, attachedThere);
    }

    /**
     * Whether it is a place in a queue, as etcd's own locks and elections name them: the name of the queue, then the lease.
     * The owner of the key that was created first holds the lock.
     */
    boolean isPlace() {
        return atSource.endsWith(suffix());
    }

    /** The queue that it is a place in. */
    ByteString queue() {
        return key.substring(0, key.size() - suffix().size());
    }

    private ByteString suffix() {
        return ByteString.copyFromUtf8("/" + Long.toHexString(lease));
    }
}
