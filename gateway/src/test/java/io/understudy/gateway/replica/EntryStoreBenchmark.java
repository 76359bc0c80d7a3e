package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Structures for a replica's entries, with a million keys of 20 bytes and values of 256: a random key looked up, put
 * alone, put in a commit of a thousand others, and the encodings of a thousand adjoining entries copied. How to run it
 * and the results: docs/performance.md.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
        value = 1,
        jvmArgs = {"-Xmx1500m", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class EntryStoreBenchmark {

    private static final int COMMIT = 1_000;
    private static final int SCAN = 1_000;

    @Param({"tree-16", "tree-32", "tree-64", "chunks-64", "pcollections"})
    String structure = "";

    @Param("1000000")
    int keys;

    private final Random random = new Random(20_261_121);
    private final byte[] out = new byte[SCAN * 320];
    private List<ByteString> names = List.of();
    private List<Change.Put> replacements = List.of();
    private Candidate candidate = Candidates.of("tree-32", List.of());

    @Setup
    public void fill() {
        List<Entry> entries = new ArrayList<>(keys);
        names = new ArrayList<>(keys);
        for (int i = 0; i < keys; i++) {
            Entry entry = Entry.of(entry(i, 1_000_000 + i));
            entries.add(entry);
            names.add(entry.key());
        }
        replacements = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            replacements.add(new Change.Put(entry(random.nextInt(keys), 2_000_000 + i)));
        }
        candidate = Candidates.of(structure, entries);
    }

    @Benchmark
    public @Nullable Object get() {
        return candidate.get(names.get(random.nextInt(keys)));
    }

    @Benchmark
    public Object put() {
        candidate = candidate.put(List.of(replacements.get(random.nextInt(replacements.size()))));
        return candidate;
    }

    @Benchmark
    public Object putThousandAtOnce() {
        int from = random.nextInt(replacements.size() - COMMIT);
        candidate = candidate.put(replacements.subList(from, from + COMMIT));
        return candidate;
    }

    @Benchmark
    public int copyThousand() {
        return candidate.copy(names.get(random.nextInt(keys - SCAN)), SCAN, out);
    }

    private static KeyValue entry(int number, long revision) {
        byte[] value = new byte[256];
        new Random(number).nextBytes(value);
        return new KeyValue(
                ByteString.copyFromUtf8(String.format("/registry/%010d", number)),
                ByteString.copyFrom(value),
                new Revision(1_000 + number),
                new Revision(revision),
                1,
                0);
    }
}
