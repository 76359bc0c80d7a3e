package io.understudy.consumer;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;

/**
 * Where a consumer resumes. Store it together with the effects of what was consumed, for example as {@link #toString}.
 *
 * @param cluster ID of the source cluster
 * @param generation of the topics
 * @param topicId of the change topic
 * @param revision up to which everything was returned
 * @param mark revision of the marks before {@code offsets}
 * @param offsets next offset of each partition of the change topic
 */
public record Position(long cluster, long generation, Uuid topicId, long revision, long mark, List<Long> offsets) {

    private static final String VERSION = "1";
    private static final int FIELDS = 7;
    private static final int HEXADECIMAL = 16;

    public Position {
        offsets = List.copyOf(offsets);
        if (offsets.isEmpty() || mark < 0 || revision < mark) {
            throw new IllegalArgumentException(
                    "position must have offsets, and its revision must be at least its mark, " + mark + "; is "
                            + revision);
        }
    }

    /**
     * Reads what {@link #toString} returned.
     *
     * @throws IllegalArgumentException the text is no position of this version
     */
    public static Position parse(String text) {
        String[] fields = text.split(":", -1);
        if (fields.length != FIELDS || !fields[0].equals(VERSION)) {
            throw new IllegalArgumentException(
                    "invalid position \"" + text + "\"; expected version " + VERSION + ". Start without a position");
        }
        return new Position(
                Long.parseUnsignedLong(fields[1], HEXADECIMAL),
                Long.parseLong(fields[2]),
                Uuid.fromString(fields[3]),
                Long.parseLong(fields[4]),
                Long.parseLong(fields[5]),
                Arrays.stream(fields[6].split(",", -1)).map(Long::valueOf).toList());
    }

    Position at(long reached) {
        return new Position(cluster, generation, topicId, reached, mark, offsets);
    }

    @Override
    public String toString() {
        return String.join(
                ":",
                VERSION,
                Long.toHexString(cluster),
                Long.toString(generation),
                topicId.toString(),
                Long.toString(revision),
                Long.toString(mark),
                offsets.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }
}
