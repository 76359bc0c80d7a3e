package io.understudy.feed.kafka;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import io.understudy.consumer.format.MalformedRecordException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

/** A record of any headers, key and value is understood, or refused by the exception that names its place. */
public final class RecordFuzz {

    private static final List<String> NAMES = Stream.of(
                    "format",
                    "cluster",
                    "kind",
                    "revision",
                    "index",
                    "size",
                    "create-revision",
                    "version",
                    "lease",
                    "previous",
                    "records",
                    "as-of",
                    "generation",
                    "scope",
                    "state",
                    "partitions")
            .map(name -> "understudy." + name)
            .toList();

    /** Such as are understood, so that inputs get past the first check. */
    private static final List<String> VALUES = List.of(
            "2",
            "1",
            "0",
            "42",
            "-1",
            "9223372036854775807",
            "cdf818194e3a8c32",
            "commit",
            "snapshot",
            "snapshot-begin",
            "snapshot-end",
            "complete",
            "");

    private RecordFuzz() {}

    public static void fuzzerTestOneInput(FuzzedDataProvider data) {
        RecordHeaders headers = new RecordHeaders();
        if (data.consumeBoolean()) {
            headers.add("understudy.format", ascii("2"));
            headers.add("understudy.cluster", ascii("cdf818194e3a8c32"));
        }
        int count = data.consumeInt(0, 12);
        for (int i = 0; i < count; i++) {
            String name = data.consumeInt(0, 9) == 0 ? data.consumeAsciiString(20) : data.pickValue(NAMES);
            headers.add(name, data.consumeInt(0, 3) == 0 ? data.consumeBytes(40) : ascii(data.pickValue(VALUES)));
        }
        byte[] key = data.consumeBoolean() ? data.consumeBytes(30) : null;
        byte[] value = data.consumeBoolean() ? data.consumeRemainingAsBytes() : null;
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(
                "topic", 0, 7, 0, TimestampType.CREATE_TIME, 0, 0, key, value, headers, Optional.empty());
        try {
            Objects.requireNonNull(RecordFormat.read(record));
            var unused = RecordFormat.origin(record);
        } catch (MalformedRecordException e) {
            // What ends a feed with the record's place.
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
