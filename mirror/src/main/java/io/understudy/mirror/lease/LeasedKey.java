package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;

/**
 * A key with a lease, as the source has it at a revision, and what the target has of it.
 *
 * @param key as the target calls it
 * @param atSource as the source calls it
 * @param created its create revision at the source
 * @param lease its lease at the source
 * @param targetCreated its create revision in the target, 0 if it isn't there
 * @param targetLease its lease in the target, 0 for none
 */
record LeasedKey(ByteString key, ByteString atSource, long created, long lease, long targetCreated, long targetLease) {

    boolean isMissing() {
        return targetCreated == 0;
    }

    /**
     * Whether it is somebody's place in a queue, as etcd's own locks and elections have them: the name of the queue, then
     * the lease. Whoever's key was created first holds the lock.
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
