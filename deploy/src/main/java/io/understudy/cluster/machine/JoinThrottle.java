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

    /** Leaders send at once: without a snapshot by then, the newcomer is brought up by entries. */
    private static final Duration SNAPSHOT_COMES = Duration.ofSeconds(60);

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(2);

    /** Whoever sends nothing for so long has given it up, or can't reach the newcomer. */
    private static final Duration STALLED = Duration.ofSeconds(10);

    /** How long a newcomer receives at a time: about the shortest that a thread can sleep. */
    private static final Duration RECEIVING = Duration.ofMillis(1);

    /** A newcomer that has its data reads all of it to build its index. */
    private static final Duration READING = Duration.ofMillis(1);

    private static final Duration RESTING = Duration.ofMillis(20);

    /** A leader keeps the entries that follow a snapshot for so long after it was sent ({@code etcdserver/server.go}). */
    private static final Duration LONGEST_READING = Duration.ofSeconds(30);

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

    /** Lets the member go on, and returns when it does; does nothing to one that is not held back. */
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

    private void run(MachineSettings machine, Supplier<OptionalLong> pid) {
        try {
            Optional<IncomingSnapshot> snapshot = awaitSnapshot(machine);
            if (snapshot.isPresent()) {
                hold(machine, snapshot.get(), pid.get());
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

    private static Optional<IncomingSnapshot> awaitSnapshot(MachineSettings machine) throws InterruptedException {
        long end = System.nanoTime() + SNAPSHOT_COMES.toNanos();
        while (System.nanoTime() < end) {
            Optional<IncomingSnapshot> coming = IncomingSnapshot.of(machine.dataDirectory());
            if (coming.isPresent()) {
                return coming;
            }
            pause(BETWEEN_LOOKS.toNanos());
        }
        return Optional.empty();
    }

    private static void hold(MachineSettings machine, IncomingSnapshot snapshot, OptionalLong pid)
            throws InterruptedException {
        try (snapshot) {
            Optional<ProcessHandle> process = pid.isEmpty() ? Optional.empty() : ProcessHandle.of(pid.getAsLong());
            if (process.isPresent()) {
                try (Reins reins = Reins.of(process.get())) {
                    receive(machine, snapshot, reins);
                    read(machine, process.get(), reins);
                }
            }
        }
    }

    private static void receive(MachineSettings machine, IncomingSnapshot coming, Reins reins)
            throws InterruptedException {
        log.info("snapshot comes member={} bytesPerSecond={}", machine.name(), machine.joinBytesPerSecond());
        JoinPace pace = new JoinPace(machine.joinBytesPerSecond());
        long began = System.nanoTime();
        long size = 0;
        long grownAt = began;
        while (coming.isComing() && reins.holds() && System.nanoTime() - grownAt < STALLED.toNanos()) {
            reins.hold();
            coming.flush();
            if (coming.size() > size) {
                size = coming.size();
                grownAt = System.nanoTime();
            }
            pause(began + pace.nanosFor(size) - System.nanoTime());
            reins.letGo();
            pause(RECEIVING.toNanos());
        }
        log.info(
                "snapshot received member={} bytes={} ms={}",
                machine.name(),
                coming.size(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
    }

    private static void read(MachineSettings machine, ProcessHandle process, Reins reins) throws InterruptedException {
        long began = System.nanoTime();
        Duration used = processorTime(process);
        boolean isReading = true;
        while (isReading && reins.holds() && System.nanoTime() - began < LONGEST_READING.toNanos()) {
            for (int i = 0; i < READINGS; i++) {
                reins.hold();
                pause(RESTING.toNanos());
                reins.letGo();
                pause(READING.toNanos());
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

    private static void pause(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos);
    }
}
