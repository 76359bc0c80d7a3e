package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;

/**
 * A key with a lease at a source revision, with its state in the target.
 *
 * @param key name in the target
 * @param atSource name at the source
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

    /** Returns this key with its state in the target. */
    LeasedKey inTarget(long createdThere, boolean attachedThere) {
        return new LeasedKey(key, atSource, created, lease, createdThere, attachedThere);
    }

    /**
     * Whether the key is a queue position of etcd's locks and elections: name, then lease. The owner of the key that
     * was created first holds the lock.
     */
    boolean isPlace() {
        return atSource.endsWith(suffix());
    }

    /** Returns the queue of the position. */
    ByteString queue() {
        return key.substring(0, key.size() - suffix().size());
    }

    private ByteString suffix() {
        return ByteString.copyFromUtf8("/" + Long.toHexString(lease));
    }
}
