package io.understudy.vocabulary;

import com.google.protobuf.ByteString;

/** One key's part in a commit. */
public sealed interface Change {

    ByteString key();

    /** Bytes of key and value. */
    long bytes();

    /** The key was set. */
    record Put(KeyValue keyValue) implements Change {
        @Override
        public ByteString key() {
            return keyValue.key();
        }

        @Override
        public long bytes() {
            return keyValue.bytes();
        }
    }

    /** The key was deleted, by a request or because its lease ended. */
    record Delete(ByteString key) implements Change {
        @Override
        public long bytes() {
            return key.size();
        }
    }
}
