package io.understudy.fuzz;

import io.understudy.config.YamlFuzz;
import io.understudy.feed.kafka.RecordFuzz;
import io.understudy.local.fuzz.Fuzzer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What comes from outside as bytes.
 *
 * <p>Tests invariant CF5.
 */
@Tag("fuzz")
final class FuzzIT {

    private static final int TIMES = "long".equals(System.getProperty("understudy.schedule")) ? 100 : 1;

    @TempDir
    private Path folder;

    @Test
    void anyConfigurationFileIsReadOrRefusedInWords() {
        String sample = """
                source:
                  endpoints: [http://a:1]
                  tls: {trusted: /ca}
                limits:
                  bytes: 512B
                  time: 5s
                names: a,b
                mirrors:
                  dr:
                    source:
                      endpoints: http://b:2
                """;
        Fuzzer.of(YamlFuzz.class)
                .beginningWith(sample.getBytes(StandardCharsets.UTF_8))
                .run(100 * TIMES, folder);
    }

    @Test
    void anyRecordIsUnderstoodOrRefusedWithItsPlace() {
        Fuzzer.of(RecordFuzz.class).run(1_000 * TIMES, folder);
    }
}
