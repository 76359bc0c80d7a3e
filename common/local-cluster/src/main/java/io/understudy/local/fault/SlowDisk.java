package io.understudy.local.fault;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Flushes of a process to disk take longer until this is closed, by {@code strace}: with minutes its disk is frozen. */
public final class SlowDisk implements AutoCloseable {

    private final Process tracer;

    private SlowDisk(Process tracer) {
        this.tracer = tracer;
    }

    /** Returns whether {@code strace} is in {@code PATH}. */
    public static boolean isAvailable() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "strace")));
    }

    /** Slows a process of this user down.
     *
     * @param delay of each flush
     */
    public static SlowDisk of(long pid, Duration delay) {
        return of(pid, delay, Stream.empty());
    }

    /** Delays only the flushes of one file. */
    public static SlowDisk ofFile(long pid, Duration delay, Path file) {
        return of(pid, delay, Stream.of("-P", file.toString()));
    }

    private static SlowDisk of(long pid, Duration delay, Stream<String> filter) {
        Stream<String> command = Stream.of(
                "strace",
                "-f",
                "-o",
                "/dev/null",
                "-e",
                "trace=fdatasync,fsync",
                "-e",
                "inject=fdatasync,fsync:delay_enter=" + TimeUnit.MICROSECONDS.convert(delay),
                "-p",
                Long.toString(pid));
        try {
            return new SlowDisk(
                    new ProcessBuilder(Stream.concat(command, filter).toList())
                            .redirectErrorStream(true)
                            .redirectOutput(Redirect.DISCARD)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        tracer.destroy();
    }
}
