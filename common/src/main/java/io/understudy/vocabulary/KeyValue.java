package io.understudy.vocabulary;

import com.google.protobuf.ByteString;

/**
 * One key at some revision, with all of etcd's metadata.
 *
 * @param createRevision revision of the put that created the key
 * @param modRevision revision of the last put
 * @param version number of puts since the key was created, from 1
 * @param lease id of the attached lease, 0 for none
 */
public record KeyValue(
        ByteString key, ByteString value, Revision createRevision, Revision modRevision, long version, long lease) {

    /** Bytes of key and value. */
    public long bytes() {
        return (long) key.size() + value.size();
    }
}
