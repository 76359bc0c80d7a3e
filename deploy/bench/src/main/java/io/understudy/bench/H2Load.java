package io.understudy.bench;

import io.understudy.bench.LoadGenerator.Load;
import io.understudy.bench.LoadGenerator.Shot;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** nghttp2's load generator, on one thread. */
final class H2Load implements LoadGenerator {

    private static final Duration DEADLINE = Duration.ofMinutes(10);
    /** A connection without any answer for so long has lost its requests. */
    private static final String STALLED = "30";

    private static final int GRPC_PREFIX_BYTES = 5;

    private final Path program;
    private final Path folder;
    private final String version;

    private H2Load(Path program, Path folder, String version) {
        this.program = program;
        this.folder = folder;
        this.version = version;
    }

    /** @param folder for the files it reads and writes */
    static Optional<LoadGenerator> find(Map<String, String> environment, Path folder) {
        return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, "h2load"))
                .filter(Files::isExecutable)
                .findFirst()
                .map(program -> new H2Load(
                        program,
                        folder,
                        Command.of(List.of(program.toString(), "--version"))
                                .run(DEADLINE)
                                .strip()));
    }

    @Override
    public String description() {
        return version;
    }

    @Override
    public Tally warmUp(Shot shot, Duration duration) {
        // Those still in flight when the time is over have no answer, so only the statuses can be looked at.
        H2LoadOutput output = execute(shot, List.of("--duration=" + duration.toMillis() + "ms"));
        requireNone(output.total() - output.succeeded(), output);
        return new Tally(output.succeeded(), output.elapsed());
    }

    @Override
    public Load run(Shot shot, long requests, Pace pace) {
        Path log = folder.resolve("h2load.log");
        try {
            Files.deleteIfExists(log);
            List<String> extent = new ArrayList<>(List.of("--requests=" + requests, "--log-file=" + log));
            if (!pace.isFull()) {
                extent.add("--rps=" + Math.max(1, Math.round(pace.perSecond() / shot.connections())));
            }
            H2LoadOutput output = execute(shot, extent);
            requireNone(output.errors(dataBytes(shot)), output);
            return new Load(new Tally(output.succeeded(), output.elapsed()), latencies(log));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the log of h2load, " + log, e);
        }
    }

    private static void requireNone(long errors, H2LoadOutput output) {
        if (errors > 0) {
            throw new BenchException(errors + " of " + output.total() + " requests failed");
        }
    }

    private H2LoadOutput execute(Shot shot, List<String> extent) {
        List<String> line = new ArrayList<>(List.of(
                program.toString(),
                "--clients=" + shot.connections(),
                "--max-concurrent-streams=" + shot.inFlight() / shot.connections(),
                "--connection-inactivity-timeout=" + STALLED,
                "--data=" + body(shot)));
        if (shot.api() == Api.JSON) {
            line.add("--h1");
        }
        Stream.of(shot.api().headers(), shot.access().headers(shot.api()))
                .flatMap(headers -> headers.entrySet().stream())
                .forEach(header -> line.add("--header=" + header.getKey() + ": " + header.getValue()));
        line.addAll(extent);
        line.add(shot.server().resolve(shot.api().path()).toString());
        try {
            return H2LoadOutput.parse(Command.of(line).run(DEADLINE));
        } catch (CommandFailedException e) {
            throw new BenchException("cannot run h2load", e);
        }
    }

    private Path body(Shot shot) {
        Path file = folder.resolve("h2load.body");
        byte[] message = shot.request().toByteArray();
        try {
            return Files.write(file, shot.api() == Api.GRPC ? prefixed(message) : message);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the request to " + file, e);
        }
    }

    /** Not compressed, then the length. */
    private static byte[] prefixed(byte[] message) {
        return ByteBuffer.allocate(GRPC_PREFIX_BYTES + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
    }

    private static int dataBytes(Shot shot) {
        return shot.answerBytes() + (shot.api() == Api.GRPC ? GRPC_PREFIX_BYTES : 0);
    }

    /** A line has start, status and microseconds until the end of the answer. */
    private static Latencies latencies(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return Latencies.of(lines.mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf('\t') + 1)))
                    .toArray());
        }
    }

    /**
     * What h2load prints.
     *
     * @param elapsed of the whole run
     * @param total requests that should have been answered
     * @param succeeded those that were, with a status of the 200s
     * @param dataBytes of all bodies
     */
    record H2LoadOutput(Duration elapsed, long total, long succeeded, long dataBytes) {

        private static final Pattern FINISHED = Pattern.compile("finished in ([0-9.]+)(us|ms|s|m|h),");
        private static final Pattern REQUESTS = Pattern.compile("requests: (\\d+) total, .* (\\d+) succeeded,");
        private static final Pattern DATA = Pattern.compile("\\((\\d+)\\) data");

        /** @throws BenchException it isn't what h2load prints */
        static H2LoadOutput parse(String output) {
            Matcher finished = find(FINISHED, output);
            Matcher requests = find(REQUESTS, output);
            double nanos = Double.parseDouble(finished.group(1)) * nanosOf(finished.group(2));
            return new H2LoadOutput(
                    Duration.ofNanos(Math.round(nanos)),
                    Long.parseLong(requests.group(1)),
                    Long.parseLong(requests.group(2)),
                    Long.parseLong(find(DATA, output).group(1)));
        }

        /** Requests without the answer that they should have: h2load doesn't look at gRPC's status, but an error has no data. */
        long errors(int answerBytes) {
            long expected = succeeded * answerBytes;
            return total - succeeded + (Math.abs(expected - dataBytes) + answerBytes - 1) / answerBytes;
        }

        private static Matcher find(Pattern pattern, String output) {
            Matcher matcher = pattern.matcher(output);
            if (!matcher.find()) {
                throw new BenchException("unexpected output of h2load: " + output.strip());
            }
            return matcher;
        }

        private static double nanosOf(String unit) {
            return switch (unit) {
                case "us" -> 1e3;
                case "ms" -> 1e6;
                case "s" -> 1e9;
                case "m" -> 60e9;
                default -> 3600e9;
            };
        }
    }
}
