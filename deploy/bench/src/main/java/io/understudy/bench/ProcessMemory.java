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

    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");
    private static final long KILOBYTE = 1_024;
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private ProcessMemory() {}

    /**
     * What is in memory now.
     *
     * @throws BenchException there is no such process, or no {@code /proc}
     */
    public static long residentBytes(long pid) {
        Path status = Path.of("/proc", Long.toString(pid), "status");
        try {
            return residentBytes(Files.readString(status));
        } catch (IOException e) {
            throw new BenchException("cannot read the memory of a server from " + status, e);
        }
    }

    /** @param status as in {@code /proc/PID/status} */
    static long residentBytes(String status) {
        Matcher resident = RESIDENT.matcher(status);
        if (!resident.find()) {
            throw new BenchException("no VmRSS in the status of a server");
        }
        return Long.parseLong(resident.group(1)) * KILOBYTE;
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
