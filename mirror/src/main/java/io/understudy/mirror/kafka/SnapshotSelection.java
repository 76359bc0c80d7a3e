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
 * Selects the records of a snapshot: entries missing in the topics, and deleted keys.
 *
 * @param last contents of the state topic at the start, removed page by page
 */
record SnapshotSelection(ClusterId source, Revision revision, LastRecords last) {

    /** Returns the records for a page of mirrored entries, under their names in the topics. */
    List<TopicRecord> page(KeyRange covered, List<KeyValue> entries) {
        List<TopicRecord> records = new ArrayList<>();
        for (KeyValue entry : entries) {
            if (!last.takeIf(entry)) {
                records.add(new TopicRecord.Found(source, entry));
            }
        }
        for (ByteString gone : last.takeRest(covered)) {
            records.add(new TopicRecord.Gone(source, revision, gone));
        }
        return records;
    }
}
