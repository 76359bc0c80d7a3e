package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.Objects;

/** States for tests. */
public final class States {

    public static final ClusterId CLUSTER = new ClusterId(0xc1);

    private States() {}

    public static ReplicaState of(KeyRange range, long revision, List<KeyValue> entries) {
        Replica replica = new Replica(range, state -> {});
        replica.snapshotStarted(CLUSTER, new Revision(revision));
        replica.snapshotPage(range, entries);
        replica.snapshotCompleted(new Position(CLUSTER, new Revision(revision), null));
        return Objects.requireNonNull(replica.state());
    }

    public static KeyValue entry(String key, String value, long createRevision, long modRevision, long version) {
        return new KeyValue(
                ByteString.copyFromUtf8(key),
                ByteString.copyFromUtf8(value),
                new Revision(createRevision),
                new Revision(modRevision),
                version,
                0);
    }
}
