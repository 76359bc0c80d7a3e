package io.understudy.bench;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a process keeps in memory. Linux only. */
public final class ProcessMemory {

    private static final long KILOBYTE = 1_024;
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private ProcessMemory() {}

    /**
     * What is in memory now.
     *
     * @throws BenchException there is no such process, or no {@code /proc}
     */
    public static long residentBytes(long pid) {
        return bytes("VmRSS", status(pid));
    }

    /**
     * The most that was in memory since its start.
     *
     * @throws BenchException as for {@link #residentBytes}
     */
    public static long peakBytes(long pid) {
        return bytes("VmHWM", status(pid));
    }

    private static String status(long pid) {
        Path status = Path.of("/proc", Long.toString(pid), "status");
        try {
            return Files.readString(status);
        } catch (IOException e) {
            throw new BenchException("cannot read the memory of a server from " + status, e);
        }
    }

    /** @param status as in {@code /proc/PID/status} */
    static long bytes(String name, String status) {
        Matcher size = Pattern.compile(name + ":\\s+(\\d+) kB").matcher(status);
        if (!size.find()) {
            throw new BenchException("no " + name + " in the status of a server");
        }
        return Long.parseLong(size.group(1)) * KILOBYTE;
    }

    /**
     * Has a JVM collect all garbage, by which G1 also gives memory back: {@code jcmd PID GC.run}.
     *
     * @throws BenchException this JVM comes without jcmd, or it failed
     */
    static void collectGarbage(long pid) {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        try {
            Command.of(List.of(jcmd.toString(), Long.toString(pid), "GC.run")).run(DEADLINE);
        } catch (CommandFailedException e) {
            throw new BenchException(
                    "cannot trigger garbage collection in the gateway; a JDK with jcmd is required", e);
        }
    }
}
