package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;

/**
 * Which records tell one snapshot: those of entries that the topics don't tell already, and of keys that are gone.
 *
 * @param last what the state topic told when the snapshot began; forgotten page by page
 * @param anew whether entries are told even where the state topic does already
 */
record SnapshotMerge(ClusterId source, Revision revision, LastRecords last, boolean anew) {

    /** Those for one page of mirrored entries, under their names in the topics. */
    List<TopicRecord> page(KeyRange covered, List<KeyValue> entries) {
        List<TopicRecord> records = new ArrayList<>();
        for (KeyValue entry : entries) {
            boolean isTold = last.takeIf(entry);
            if (anew || !isTold) {
                records.add(new TopicRecord.Found(source, entry));
            }
        }
        for (ByteString gone : last.takeRest(covered)) {
            records.add(new TopicRecord.Gone(source, revision, gone));
        }
        return records;
    }
}
