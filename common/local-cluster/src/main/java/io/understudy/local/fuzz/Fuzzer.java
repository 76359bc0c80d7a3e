package io.understudy.local.fuzz;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.local.process.Folders;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs Jazzer, which must be on the class path, on one target class. The target has {@code public static void
 * fuzzerTestOneInput(byte[])}, or the same with Jazzer's {@code FuzzedDataProvider}, and optionally {@code
 * fuzzerInitialize()}. Findings are exceptions, inputs that take twenty seconds, and memory beyond the limit.
 *
 * <p>The same seed gives the same inputs as long as the code is the same. Blocking; not thread-safe.
 */
public final class Fuzzer {

    /** Set to repeat a run that failed. */
    public static final String SEED_PROPERTY = "understudy.fuzz.seed";

    private static final String JAZZER = "com.code_intelligence.jazzer.Jazzer";
    private static final Duration PATIENCE = Duration.ofMinutes(60);

    /** Jazzer's sanitizers that report what the tested programs do: connect, run etcd, write files. */
    private static final String DISABLED_HOOKS = Stream.of(
                    "FilePathTraversal",
                    "NamingContextLookup",
                    "OsCommandInjection",
                    "ReflectiveCall",
                    "ServerSideRequestForgery",
                    "UnsafeSanitizer")
            .map(name -> "com.code_intelligence.jazzer.sanitizers." + name)
            .collect(Collectors.joining(":"));

    private final Class<?> target;
    private final List<byte[]> seeds = new ArrayList<>();

    private Fuzzer(Class<?> target) {
        this.target = target;
    }

    public static Fuzzer of(Class<?> target) {
        return new Fuzzer(target);
    }

    /** Adds these inputs, usually valid ones, to the initial corpus. */
    public Fuzzer beginningWith(byte[]... inputs) {
        seeds.addAll(List.of(inputs));
        return this;
    }

    /**
     * Tries that many inputs.
     *
     * @param folder where a failing input is left
     * @throws AssertionError something was found; the message has the seed and the end of what was printed
     */
    public void run(int inputs, Path folder) {
        // Jazzer's seeds have 32 bits, and 0 is a random one.
        int seed =
                Integer.getInteger(SEED_PROPERTY, RandomGenerator.getDefault().nextInt(1, Integer.MAX_VALUE));
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx768m",
                "-XX:+UseSerialGC",
                "-XX:-OmitStackTraceInFastThrow",
                "-Djava.net.preferIPv4Stack=true",
                JAZZER,
                "--target_class=" + target.getName(),
                "--instrumentation_includes=io.understudy.**",
                "--instrumentation_excludes=io.understudy.local.**",
                "--disabled_hooks=" + DISABLED_HOOKS,
                "--reproducer_path=" + folder,
                "-artifact_prefix=" + folder + "/",
                "-seed=" + seed,
                "-runs=" + inputs,
                "-max_len=4096",
                "-len_control=0",
                "-timeout=20",
                "-rss_limit_mb=3072",
                corpus(folder).toString()));
        try {
            var unused =
                    Command.of(line).in(folder).with("CLASSPATH", classPath()).run(PATIENCE);
        } catch (CommandFailedException e) {
            throw new AssertionError(
                    target.getSimpleName() + " failed; reproduce with -D" + SEED_PROPERTY + "=" + seed + ", input in "
                            + folder + ": " + e.getMessage(),
                    e);
        }
    }

    /** Absolute, since it runs in another folder than this process. */
    private static String classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private Path corpus(Path folder) {
        Path corpus = Folders.create(folder.resolve("corpus"));
        try {
            for (int i = 0; i < seeds.size(); i++) {
                Files.write(corpus.resolve("given-" + i), seeds.get(i));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the initial inputs to " + corpus, e);
        }
        return corpus;
    }
}
