package io.understudy.gateway.read;

import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;

/**
 * A range response of a member of the source.
 *
 * @param revision of its header: the state's, regardless of the requested revision
 * @param entries as limited, sorted and filtered by the member
 */
record SourceAnswer(ClusterId cluster, long revision, List<Entry> entries, boolean more, long count, Origin origin) {

    static SourceAnswer of(RangeResponse response, Origin origin) {
        List<Entry> entries = new ArrayList<>(response.getKvsCount());
        for (KeyValue kv : response.getKvsList()) {
            entries.add(Entry.of(new io.understudy.vocabulary.KeyValue(
                    kv.getKey(),
                    kv.getValue(),
                    new Revision(kv.getCreateRevision()),
                    new Revision(kv.getModRevision()),
                    kv.getVersion(),
                    kv.getLease())));
        }
        return new SourceAnswer(
                new ClusterId(response.getHeader().getClusterId()),
                response.getHeader().getRevision(),
                entries,
                response.getMore(),
                response.getCount(),
                origin);
    }

    long wireBytes() {
        return entries.stream().mapToLong(Entry::wireSize).sum();
    }
}
