package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/** Keys and entries for tests: few enough to collide, with bytes at the edges of orders. */
final class Keys {

    private Keys() {}

    /** Mostly short keys over bytes at the edges of signed and unsigned order. */
    static Arbitrary<ByteString> any() {
        return Arbitraries.of((byte) 0, (byte) 1, (byte) 'a', (byte) 0x7f, (byte) 0x80, (byte) 0xff)
                .array(byte[].class)
                .ofMinSize(1)
                .ofMaxSize(3)
                .map(ByteString::copyFrom);
    }

    static ByteString key(String text) {
        return ByteString.copyFromUtf8(text);
    }

    static KeyValue entry(ByteString key, String value, long revision) {
        return entry(key, value, revision, revision, 1);
    }

    static KeyValue entry(ByteString key, String value, long createRevision, long modRevision, long version) {
        return new KeyValue(
                key,
                ByteString.copyFromUtf8(value),
                new Revision(createRevision),
                new Revision(modRevision),
                version,
                0);
    }

    /** Returns the message that etcd would send. */
    static io.etcd.jetcd.api.KeyValue message(KeyValue entry) {
        return io.etcd.jetcd.api.KeyValue.newBuilder()
                .setKey(entry.key())
                .setValue(entry.value())
                .setCreateRevision(entry.createRevision().value())
                .setModRevision(entry.modRevision().value())
                .setVersion(entry.version())
                .setLease(entry.lease())
                .build();
    }
}
