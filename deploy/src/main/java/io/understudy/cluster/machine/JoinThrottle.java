package io.understudy.cluster.machine;

import io.understudy.local.process.Reins;
import java.time.Duration;
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
 * Has members that join take the cluster's data slowly. A leader of etcd sends a snapshot as fast as it is taken, and
 * the newcomer flushes it to its disk in one piece when all of it is there: processors, disk and network that others
 * share with it have no room for anything else meanwhile. What a newcomer doesn't read, TCP keeps its leader from
 * sending; what is flushed bit by bit keeps no other flush waiting for long.
 *
 * <p>Thread-safe. Each member has a thread of its own while it is held back.
 */
final class JoinThrottle {

    private static final Logger log = LoggerFactory.getLogger(JoinThrottle.class);

    /** Without a snapshot by then, it is taken for one that is brought up by entries. */
    private static final Duration SNAPSHOT_COMES = Duration.ofSeconds(60);

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(5);

    /** systemd is asked by a program of its own. */
    private static final Duration BETWEEN_QUESTIONS = Duration.ofMillis(100);

    /** Whoever sends nothing for so long has given it up, or can't reach the newcomer. */
    private static final Duration STALLED = Duration.ofSeconds(10);

    /** How long a newcomer receives at a time: about the shortest that a thread can sleep. */
    private static final Duration RECEIVING = Duration.ofMillis(1);

    /** etcd gives up connections from which it could read nothing for five seconds ({@code embed/etcd.go}). */
    private static final Duration LONGEST_REST = Duration.ofSeconds(3);

    /** A newcomer that has its data reads all of it to build its index. */
    private static final Duration READING = Duration.ofMillis(1);

    private static final Duration RESTING = Duration.ofMillis(20);

    /** A leader keeps the entries that follow a snapshot for 30 s after it was sent ({@code etcdserver/server.go}). */
    private static final Duration LONGEST_READING = Duration.ofSeconds(10);

    /** So many times it is let read before it is seen whether it still does; processor time is counted by 10 ms. */
    private static final int READINGS = 50;

    private final Map<String, Thread> threads = new ConcurrentHashMap<>();

    /**
     * Holds back the member, which was started just now or earlier, unless it is already.
     *
     * @param pid its process, once it is there
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

    /** Holds the member back no longer, and returns when it doesn't; does nothing to one that is not held back. */
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

    private static void run(MachineSettings machine, Supplier<OptionalLong> pid) {
        try {
            Optional<ProcessHandle> process = awaitProcess(pid);
            if (process.isPresent()) {
                try (Reins reins = Reins.of(process.get())) {
                    hold(machine, process.get(), reins);
                }
            }
        } catch (InterruptedException e) {
            log.debug("held back no longer member={}", machine.name());
        } catch (RuntimeException e) {
            // An interrupt closes the file that is flushed.
            if (!Thread.currentThread().isInterrupted()) {
                log.warn("member joins as fast as it can member={} why=\"{}\"", machine.name(), e.getMessage());
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

    /** A snapshot that breaks off is sent anew. */
    private static void hold(MachineSettings machine, ProcessHandle process, Reins reins) throws InterruptedException {
        boolean isTaken = false;
        while (!isTaken && reins.holds()) {
            Optional<IncomingSnapshot> coming = awaitSnapshot(machine, reins);
            if (coming.isEmpty()) {
                return;
            }
            try (IncomingSnapshot snapshot = coming.get()) {
                isTaken = receive(machine, snapshot, reins);
            }
        }
        if (isTaken) {
            read(machine, process, reins);
        }
    }

    private static Optional<IncomingSnapshot> awaitSnapshot(MachineSettings machine, Reins reins)
            throws InterruptedException {
        long end = System.nanoTime() + SNAPSHOT_COMES.toNanos();
        while (System.nanoTime() < end && reins.holds()) {
            Optional<IncomingSnapshot> coming = IncomingSnapshot.of(machine.dataDirectory());
            if (coming.isPresent()) {
                return coming;
            }
            pause(BETWEEN_LOOKS);
        }
        return Optional.empty();
    }

    /** Whether all of it came. */
    private static boolean receive(MachineSettings machine, IncomingSnapshot coming, Reins reins)
            throws InterruptedException {
        log.info("snapshot comes member={} bytesPerSecond={}", machine.name(), machine.joinBytesPerSecond());
        JoinPace pace = new JoinPace(machine.joinBytesPerSecond());
        long began = System.nanoTime();
        long size = 0;
        long grownAt = began;
        while (coming.isComing() && reins.holds() && System.nanoTime() - grownAt < STALLED.toNanos()) {
            reins.hold();
            coming.flush();
            boolean hasGrown = coming.size() > size;
            size = coming.size();
            long due = began + pace.nanosFor(size) - System.nanoTime();
            pause(Duration.ofNanos(Math.max(0, Math.min(due, LONGEST_REST.toNanos()))));
            reins.letGo();
            // It could not grow while it rested.
            grownAt = hasGrown ? System.nanoTime() : grownAt;
            pause(RECEIVING);
        }
        boolean isTaken = coming.isTaken();
        log.info(
                "snapshot {} member={} bytes={} ms={}",
                isTaken ? "received" : "broke off",
                machine.name(),
                coming.size(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
        return isTaken;
    }

    private static void read(MachineSettings machine, ProcessHandle process, Reins reins) throws InterruptedException {
        long began = System.nanoTime();
        Duration used = processorTime(process);
        boolean isReading = true;
        while (isReading && reins.holds() && System.nanoTime() - began < LONGEST_READING.toNanos()) {
            for (int i = 0; i < READINGS; i++) {
                reins.hold();
                pause(RESTING);
                reins.letGo();
                pause(READING);
            }
            Duration now = processorTime(process);
            isReading = now.minus(used).compareTo(READING.multipliedBy(READINGS / 2)) > 0;
            used = now;
        }
        log.info(
                "snapshot read member={} ms={}",
                machine.name(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
    }

    private static Duration processorTime(ProcessHandle process) {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private static void pause(Duration time) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
    }
}
