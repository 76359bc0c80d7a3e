package io.understudy.bench;

import java.util.Locale;

/** A figure of a run, in the order of the columns of a report. */
public enum Figure {
    REQUESTS_PER_SECOND("requests/s", "requestsPerSecond", "%.0f"),
    EVENTS_PER_SECOND("events/s", "eventsPerSecond", "%.0f"),
    CHANGES_PER_SECOND("changes/s", "changesPerSecond", "%.0f"),
    MEGABYTES_PER_SECOND("MB/s", "megabytesPerSecond", "%.2f"),
    SECONDS_WITH_START("s with start", "secondsWithStart", "%.1f"),
    KEYS_PER_SECOND("keys/s", "keysPerSecond", "%.0f"),
    PUTS_PER_SECOND("puts/s", "putsPerSecond", "%.0f"),
    /** Puts sent, but not yet delivered to all watchers. */
    IN_FLIGHT("in flight", "putsInFlight", "%.0f"),
    DRAIN_MILLIS("drained ms", "drainMillis", "%.0f"),
    /** Of a request; of a put, from its acknowledgement to its delivery. */
    P50_MILLIS("p50 ms", "p50Millis", "%.2f"),
    P99_MILLIS("p99 ms", "p99Millis", "%.2f"),
    /** From sending a put to its delivery. */
    SENT_P50_MILLIS("sent p50", "p50MillisSinceSent", "%.2f"),
    SENT_P99_MILLIS("sent p99", "p99MillisSinceSent", "%.2f"),
    /** CPU time of all servers of the path, less their idle rate. */
    CPU_PER_REQUEST("CPU us/request", "cpuMicrosPerRequest", "%.1f"),
    /** CPU time of all servers of the path, less their idle rate; includes the cost of the puts. */
    CPU_PER_EVENT("CPU us/event", "cpuMicrosPerEvent", "%.2f"),
    CPU_PER_KEY("CPU us/key", "cpuMicrosPerKey", "%.0f"),
    /** CPU time per event, less the cost of as many puts with one watcher. */
    CPU_LESS_PUTS("CPU less puts", "cpuMicrosPerEventLessPuts", "%.2f"),
    /** CPU time of all voting members per put as a share of that with one watcher. */
    VOTERS_TO_ONE("voters to 1", "votersCpuToOneWatcher", "%.2f"),
    /** Bytes between voting members and their clients, both ways, per put. */
    BYTES_PER_PUT("bytes/put", "voterBytesPerPut", "%.0f"),
    BYTES_TO_ONE("bytes to 1", "voterBytesToOneWatcher", "%.2f"),
    /** Cores that the load generator used. */
    LOAD_CORES("load cores", "loadGeneratorCores", "%.2f"),
    SHARED_BYTES("bytes/watcher shared", "bytesPerWatcherShared", "%.0f"),
    EACH_BYTES("bytes/watcher each", "bytesPerWatcherEach", "%.0f"),
    RESIDENT_MEGABYTES("resident MB", "residentMegabytes", "%.0f"),
    SECONDS("s", "seconds", "%.1f"),
    /** The most memory that the process had, since its start. */
    PEAK_MEGABYTES("peak MB", "peakMegabytes", "%.0f"),
    CPU_SECONDS("CPU s", "cpuSeconds", "%.1f"),
    /** CPU time of all members of the source, of the target. */
    SOURCE_CPU_SECONDS("source CPU s", "sourceCpuSeconds", "%.1f"),
    TARGET_CPU_SECONDS("target CPU s", "targetCpuSeconds", "%.1f"),
    /** Sent to clients. */
    SOURCE_MEGABYTES("MB from source", "sourceMegabytes", "%.1f"),
    TARGET_MEGABYTES("MB from target", "targetMegabytes", "%.1f"),
    GROW_SECONDS("s to grow", "growSeconds", "%.1f"),
    SHRINK_SECONDS("s to shrink", "shrinkSeconds", "%.1f"),
    STALL_MILLIS("longest stall ms", "longestStallMillis", "%.0f"),
    LOST("lost puts", "lostPuts", "%.0f"),
    UNDISTURBED_P99_MILLIS("p99 ms baseline", "undisturbedP99Millis", "%.2f"),
    JOIN_SECONDS("s to join", "joinSeconds", "%.1f"),
    JOIN_P99_MILLIS("p99 ms during join", "joinP99Millis", "%.2f"),
    RATIO("ratio", "ratio", "%.2f"),
    FAILOVER_SECONDS("s beyond dead time", "secondsBeyondDeadTime", "%.1f");

    private final String title;
    private final String jsonName;
    private final String pattern;

    Figure(String title, String jsonName, String pattern) {
        this.title = title;
        this.jsonName = jsonName;
        this.pattern = pattern;
    }

    String title() {
        return title;
    }

    String jsonName() {
        return jsonName;
    }

    String format(double value) {
        return String.format(Locale.ROOT, pattern, value);
    }
}
