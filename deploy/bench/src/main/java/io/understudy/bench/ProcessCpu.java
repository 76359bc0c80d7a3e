package io.understudy.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A process' CPU time, as the kernel reports it. Linux only. */
public final class ProcessCpu {

    /** Linux reports hundredths of a second (USER_HZ), whatever the rate of its own clock. */
    private static final long MICROS_PER_TICK = 10_000;

    /** Counted after the name, which is in parentheses and may hold anything: utime, stime. */
    private static final int UTIME = 11;

    private static final int STIME = 12;

    private static final Pattern COMPILER = Pattern.compile("\\(C[12] Compiler");

    private ProcessCpu() {}

    /**
     * User and system time of all threads so far, those that have ended too.
     *
     * @throws BenchException there is no such process, or no {@code /proc}
     */
    public static long micros(long pid) {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            return micros(Files.readString(stat, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new BenchException("cannot read the CPU time of a server from " + stat, e);
        }
    }

    /**
     * What a JVM's compilers have used so far, or those of them that still run. It comes to an end when all code that
     * is used is compiled.
     *
     * @throws BenchException there is no such process, or no {@code /proc}
     */
    static long compilerMicros(long pid) {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            return threads.map(ProcessCpu::stat)
                    .filter(stat -> COMPILER.matcher(stat).find())
                    .mapToLong(ProcessCpu::micros)
                    .sum();
        } catch (IOException e) {
            throw new BenchException("cannot list the threads of a server", e);
        }
    }

    /** Empty for a thread that has ended meanwhile. */
    private static String stat(Path thread) {
        try {
            return Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    /** @param stat a line as in {@code /proc/PID/stat} */
    static long micros(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[UTIME]) + Long.parseLong(fields[STIME])) * MICROS_PER_TICK;
    }
}
