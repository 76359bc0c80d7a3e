package io.understudy.mirror.kafka;

import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;

/**
 * The topics that a mirror has written to, and minimum offsets. Stored beside each checkpoint, so that topics deleted,
 * recreated or truncated since are recognised.
 *
 * <p>As text, {@code name=id:offset,offset;name=id:offset}.
 *
 * <p>Invariant M28: a topic that was deleted, recreated or truncated is detected before anything more is written.
 *
 * @param topics by name
 */
record Footprint(Map<String, Topic> topics) {

    Footprint {
        topics = Map.copyOf(topics);
    }

    /**
     * A topic and its last offsets.
     *
     * @param id Kafka's topic ID, unique per created topic
     * @param offsets of the last record known to be in each partition; -1 for none
     */
    record Topic(Uuid id, List<Long> offsets) {
        Topic {
            offsets = List.copyOf(offsets);
        }
    }

    static Footprint parse(String text) {
        Map<String, Topic> topics = new TreeMap<>();
        for (String part : text.split(";", -1)) {
            String[] nameAndRest = part.split("[=:]", -1);
            if (nameAndRest.length != 3) {
                throw new IllegalArgumentException("\"" + part + "\" is not a topic with ID and offsets");
            }
            List<Long> offsets =
                    Stream.of(nameAndRest[2].split(",", -1)).map(Long::valueOf).toList();
            topics.put(nameAndRest[0], new Topic(Uuid.fromString(nameAndRest[1]), offsets));
        }
        return new Footprint(topics);
    }

    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(";");
        new TreeMap<>(topics)
                .forEach((name, topic) -> text.add(name + "=" + topic.id() + ":"
                        + topic.offsets().stream()
                                .map(offset -> Long.toString(offset))
                                .collect(Collectors.joining(","))));
        return text.toString();
    }
}
