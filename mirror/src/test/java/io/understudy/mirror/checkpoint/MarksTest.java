package io.understudy.mirror.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mark is read whatever else is stored with it, and nothing is taken for one that is none. */
final class MarksTest {

    @Test
    void aCheckpointHasAMark() throws CorruptCheckpointException {
        Checkpoint checkpoint = Checkpoint.first(new ClusterId(7), MirrorScope.all(), "test", Instant.EPOCH)
                .marked(List.of(new ClusterId(9), new ClusterId(7)), Instant.EPOCH);
        assertThat(Marks.decode("here", CheckpointCodec.encode(checkpoint)))
                .containsExactly(new ClusterId(9), new ClusterId(7));
    }

    @Property(tries = 100)
    void decodesAMarkBesideOtherFields(@ForAll List<Long> path) throws CorruptCheckpointException {
        List<ClusterId> passed = path.stream().map(ClusterId::new).toList();
        ObjectNode stored = JsonNodeFactory.instance.objectNode().put("format", 9);
        Marks.write(passed, stored);
        stored.put("more", true);
        assertThat(Marks.decode("here", ByteString.copyFromUtf8(stored.toString())))
                .isEqualTo(passed);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1",
                "[]",
                "{}",
                "{\"path\":7}",
                "{\"path\":[7]}",
                "{\"path\":[\"x\"]}",
                "{\"path\":[\"07\"]}",
                "{\"path\":[],\"path\":[]}",
                "{\"path\":[]} {}"
            })
    void malformedMarksAreRejectedWithTheirKey(String stored) {
        assertThatThrownBy(() -> Marks.decode("key \"k\" of the source", ByteString.copyFromUtf8(stored)))
                .isInstanceOf(CorruptCheckpointException.class)
                .hasMessageContaining("key \"k\" of the source")
                .hasMessageContaining(stored);
    }
}
