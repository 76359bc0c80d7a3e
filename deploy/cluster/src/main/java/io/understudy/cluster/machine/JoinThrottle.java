package io.understudy.cluster.machine;

import io.understudy.local.process.ProcessorLimit;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the rate at which joining members receive the cluster's data. A leader of etcd sends a snapshot as fast as it
 * is read, and the new member then flushes it to its disk in one piece. That starves others that share processors, disk
 * and network. What a new member does not read, TCP keeps its leader from sending; gradual writes do not delay the
 * flushes of others.
 *
 * <p>Thread-safe. Each limited member has its own thread.
 *
 * <p>Invariant DP21: a joining member receives its data at the configured pace, and still stops at once.
 */
final class JoinThrottle {

    private static final Logger LOG = LoggerFactory.getLogger(JoinThrottle.class);

    /** Without a snapshot within this time, the member catches up by entries. */
    private static final Duration SNAPSHOT_COMES = Duration.ofSeconds(60);

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(5);

    /** Pause between queries: one of systemd starts a process. */
    private static final Duration BETWEEN_QUESTIONS = Duration.ofMillis(100);

    /** A sender that is silent for this time has failed or cannot connect. */
    private static final Duration STALLED = Duration.ofSeconds(10);

    /** Shortest time of receiving at once: the shorter, the less others wait. */
    private static final Duration RECEIVING = Duration.ofNanos(100_000);

    private static final Duration SHORTEST_PERIOD = Duration.ofMillis(4);

    /** Relative difference of shares that is ignored. */
    private static final double NOTICEABLE = 0.2;

    private static final Duration BETWEEN_WRITES = Duration.ofMillis(50);

    /** Time of reading at once while the member builds its index, without lower priority. */
    private static final Duration READING = Duration.ofNanos(500_000);

    private static final Duration READING_PERIOD = Duration.ofMillis(5);

    /** Below the 30 s for which a leader keeps entries after a snapshot ({@code etcdserver/server.go}). */
    private static final Duration LONGEST_READING = Duration.ofSeconds(20);

    private final List<Path> databases;
    private final Map<String, Thread> threads = new ConcurrentHashMap<>();

    /** @param databases database files of all members of this machine, existing or not */
    JoinThrottle(List<Path> databases) {
        this.databases = List.copyOf(databases);
    }

    /**
     * Limits a member that was started now or earlier, unless it is limited already.
     *
     * @param pid its process ID, once known
     */
    void begin(MachineSettings machine, Supplier<OptionalLong> pid) {
        var unused = threads.compute(machine.name(), (name, present) -> {
            if (present != null && present.isAlive()) {
                return present;
            }
            Thread thread = new Thread(() -> run(machine, pid), "join-" + name);
            thread.setDaemon(true);
            thread.start();
            return thread;
        });
    }

    /** Ends the limit of a member, if any, and returns when it has ended. */
    void end(MachineSettings machine) {
        @Nullable Thread thread = threads.remove(machine.name());
        if (thread != null) {
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Removes limits that a killed process left on the member's process. */
    void undo(ProcessHandle process) {
        try {
            ProcessorLimit.of(process).close();
        } catch (UncheckedIOException e) {
            LOG.atDebug()
                    .addKeyValue("pid", process.pid())
                    .addKeyValue("cause", e.getMessage())
                    .log("processor limit not supported");
        }
    }

    private void run(MachineSettings machine, Supplier<OptionalLong> pid) {
        try {
            Optional<ProcessHandle> process = awaitProcess(pid);
            if (process.isPresent()) {
                try (ProcessorLimit limit = ProcessorLimit.of(process.get())) {
                    hold(machine, process.get(), limit);
                }
            }
        } catch (InterruptedException e) {
            LOG.atDebug().addKeyValue("member", machine.name()).log("join throttle stopped");
        } catch (RuntimeException e) {
            // An interrupt closes the file that is written back.
            if (!Thread.currentThread().isInterrupted()) {
                LOG.atWarn()
                        .addKeyValue("member", machine.name())
                        .addKeyValue("cause", e.getMessage())
                        .log("join throttle failed; member joins at full speed");
            }
        }
    }

    private static Optional<ProcessHandle> awaitProcess(Supplier<OptionalLong> pid) throws InterruptedException {
        long end = System.nanoTime() + SNAPSHOT_COMES.toNanos();
        while (System.nanoTime() < end) {
            OptionalLong known = pid.get();
            if (known.isPresent()) {
                return ProcessHandle.of(known.getAsLong());
            }
            pause(BETWEEN_QUESTIONS);
        }
        return Optional.empty();
    }

    /** Limits each snapshot until one is complete: an interrupted one is sent again. */
    private void hold(MachineSettings machine, ProcessHandle process, ProcessorLimit limit)
            throws InterruptedException {
        boolean isTaken = false;
        while (!isTaken && limit.holds()) {
            Optional<IncomingSnapshot> coming = awaitSnapshot(machine, limit);
            if (coming.isEmpty()) {
                return;
            }
            try (IncomingSnapshot snapshot = coming.get();
                    Prefetch prefetch = Prefetch.of(databasesOfOthers(machine))) {
                isTaken = receive(machine, snapshot, prefetch, limit);
            }
            if (!isTaken && limit.holds()) {
                limit.lift();
            }
        }
        if (isTaken) {
            read(machine, limit);
        }
        if (process.isAlive() && !limit.holds()) {
            throw new IllegalStateException("cannot limit process " + process.pid() + ": bash is required");
        }
    }

    private List<Path> databasesOfOthers(MachineSettings machine) {
        Path own = new DataDirectory(machine.dataDirectory()).database();
        return databases.stream().filter(database -> !database.equals(own)).toList();
    }

    private static Optional<IncomingSnapshot> awaitSnapshot(MachineSettings machine, ProcessorLimit limit)
            throws InterruptedException {
        long end = System.nanoTime() + SNAPSHOT_COMES.toNanos();
        while (System.nanoTime() < end && limit.holds()) {
            Optional<IncomingSnapshot> coming = IncomingSnapshot.of(new DataDirectory(machine.dataDirectory()));
            if (coming.isPresent()) {
                return coming;
            }
            pause(BETWEEN_LOOKS);
        }
        return Optional.empty();
    }

    /** Receives a snapshot at the limited rate and returns whether it is complete. */
    private static boolean receive(
            MachineSettings machine, IncomingSnapshot coming, Prefetch prefetch, ProcessorLimit limit)
            throws InterruptedException {
        LOG.atInfo()
                .addKeyValue("member", machine.name())
                .addKeyValue("bytes_per_second", machine.joinBytesPerSecond())
                .log("receiving snapshot");
        JoinPace pace = new JoinPace(machine.joinBytesPerSecond());
        long began = System.nanoTime();
        long size = 0;
        double share = 0;
        long grownAt = began;
        while (coming.isComing() && limit.holds() && System.nanoTime() - grownAt < STALLED.toNanos()) {
            double due = pace.share(size, System.nanoTime() - began);
            // A new share begins at once, and so ends a rest before its time.
            if (Math.abs(due / share - 1) > NOTICEABLE) {
                share = due;
                limit.set(longer(RECEIVING, SHORTEST_PERIOD, share), longer(SHORTEST_PERIOD, RECEIVING, 1 / share));
            }
            pause(BETWEEN_WRITES);
            coming.writeBack();
            coming.readAhead(prefetch);
            grownAt = coming.size() > size ? System.nanoTime() : grownAt;
            size = coming.size();
        }
        boolean isTaken = coming.isTaken();
        LOG.atInfo()
                .addKeyValue("member", machine.name())
                .addKeyValue("bytes", coming.size())
                .addKeyValue("ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began))
                .log(isTaken ? "snapshot received" : "snapshot incomplete");
        return isTaken;
    }

    /**
     * Limits the member for a fixed time, since the end of reading is not observable. By its processor time, a member
     * with low priority on a busy machine looks like one that has finished.
     */
    private static void read(MachineSettings machine, ProcessorLimit limit) throws InterruptedException {
        limit.giveWay(READING, READING_PERIOD);
        long end = System.nanoTime() + LONGEST_READING.toNanos();
        while (limit.holds() && System.nanoTime() < end) {
            pause(BETWEEN_QUESTIONS);
        }
        LOG.atInfo().addKeyValue("member", machine.name()).log("snapshot load time elapsed; processor limit lifted");
    }

    /** Returns the longer of a time and a part of another. */
    private static Duration longer(Duration least, Duration other, double part) {
        return Duration.ofNanos(Math.max(least.toNanos(), (long) (other.toNanos() * part)));
    }

    private static void pause(Duration time) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
    }

    /**
     * Rate of a snapshot: slow initially, doubled every two minutes. So it takes minutes, however large. Meanwhile the
     * leader keeps every entry of its log, and its database reuses no freed page.
     *
     * @param bytesPerSecond initial rate
     */
    record JoinPace(long bytesPerSecond) {

        private static final double DOUBLING_SECONDS = 120;

        /** Share of a processor that about yields the usual initial rate. */
        private static final double SHARE = 1 / 300.0;

        private static final double LEAST_SHARE = SHARE / 16;
        private static final double LARGEST_SHARE = 0.9;

        /** The lead that halves a member's share, and the lag that doubles it. */
        private static final double HALVING_SECONDS = 2;

        /**
         * Returns the share of time to receive, which corrects a lead or lag of seconds.
         *
         * @param bytes received bytes
         * @param nanos time since the start
         */
        double share(long bytes, long nanos) {
            double aheadSeconds = (nanosFor(bytes) - nanos) / 1e9;
            return Math.max(LEAST_SHARE, Math.min(SHARE * Math.pow(2, -aheadSeconds / HALVING_SECONDS), LARGEST_SHARE));
        }

        /** Returns the time for that many bytes: the integral of the rate, solved for time. */
        long nanosFor(long bytes) {
            double doublings = Math.log1p(bytes * Math.log(2) / (bytesPerSecond * DOUBLING_SECONDS)) / Math.log(2);
            return (long) (doublings * DOUBLING_SECONDS * 1e9);
        }
    }
}
