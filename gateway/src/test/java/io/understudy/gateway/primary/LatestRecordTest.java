package io.understudy.gateway.primary;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.gateway.primary.PrimaryChoice.Seen;
import io.understudy.gateway.primary.PrimaryChoice.Side;
import io.understudy.gateway.primary.PrimaryRecords.LatestRecord;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests invariant G3. */
final class LatestRecordTest {

    private static final ClusterId HERE = new ClusterId(1);

    private final List<Long> epochs = new ArrayList<>();
    private final LatestRecord latest =
            new LatestRecord(Side.SOURCE, seen -> epochs.add(seen.record().epoch()));

    @Test
    void eachRecordIsPassedOnOnce_andNoneAfterANewerOne() {
        latest.found(HERE, stored(10, 1));
        latest.found(HERE, stored(10, 1));
        latest.found(HERE, stored(12, 3));
        Seen late = latest.found(HERE, stored(11, 2));
        assertThat(late.record().epoch()).isEqualTo(2);
        assertThat(epochs).containsExactly(1L, 3L);
    }

    @Test
    void aRebuiltClusterBeginsAtLowerRevisions() {
        latest.found(HERE, stored(1_000_000, 1));
        latest.restart();
        latest.found(HERE, stored(3_000, 1));
        latest.found(HERE, stored(3_500, 2));
        assertThat(epochs).containsExactly(1L, 1L, 2L);
    }

    @Test
    void aRecordOfAnotherClusterOrHistoryIsNotTakenForTheKnownOne() {
        latest.found(HERE, stored(10, 1));
        assertThat(latest.found(HERE, stored(10, 2)).record().epoch()).isEqualTo(2);
        assertThat(latest.found(new ClusterId(2), stored(5, 3)).record().epoch())
                .isEqualTo(3);
        assertThat(epochs).containsExactly(1L, 3L);
    }

    private static KeyValue stored(long revision, long epoch) {
        return new KeyValue(
                PrimaryRecord.key("dr"),
                ByteString.copyFromUtf8(
                        "{\"home\":\"1\",\"scope\":{\"include\":[],\"exclude\":[],\"from\":\"\",\"to\":\"\"},\"moves\":"
                                + epoch + "}"),
                new Revision(1),
                new Revision(revision),
                1,
                0);
    }
}
