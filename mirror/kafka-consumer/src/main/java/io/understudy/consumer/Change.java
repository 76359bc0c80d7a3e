package io.understudy.consumer;

/** A put or a delete of one key. */
public sealed interface Change<K, V> {

    K key();

    /**
     * The key was put.
     *
     * @param createRevision revision of the put that created the key
     * @param modRevision revision of this put
     * @param version number of puts since the key was created, from 1
     * @param lease ID of the lease, 0 for none
     */
    record Put<K, V>(K key, V value, long createRevision, long modRevision, long version, long lease)
            implements Change<K, V> {}

    /** The key was deleted, or does not exist. */
    record Delete<K, V>(K key) implements Change<K, V> {}
}
