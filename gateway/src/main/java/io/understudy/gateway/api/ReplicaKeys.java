package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A replica's state, to be asked. */
public record ReplicaKeys(ReplicaState state) implements KeySpace {

    @Override
    public Revision revision() {
        return state.revision();
    }

    @Override
    public @Nullable Entry get(ByteString key) {
        return state.get(key);
    }

    @Override
    public long count(KeyRange keys) {
        return state.count(keys);
    }

    @Override
    public Entries entries(KeyRange keys, long limit) {
        if (limit <= 0) {
            return Entries.NONE;
        }
        List<Entry> found = new ArrayList<>();
        state.scan(keys, entry -> {
            found.add(entry);
            return found.size() < limit;
        });
        return Entries.of(found);
    }
}
