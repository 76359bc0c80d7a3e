package io.understudy.bench;

/** What is measured of watches. */
enum WatchFigure implements Figure {
    EVENTS_PER_SECOND("events/s", "eventsPerSecond", "%.0f"),
    PUTS_PER_SECOND("puts/s", "putsPerSecond", "%.0f"),
    /** How many puts were under way at any time. */
    IN_FLIGHT("in flight", "putsInFlight", "%.0f"),
    /** From a put's acknowledgement to its delivery. */
    P50_MILLIS("p50 ms", "p50Millis", "%.2f"),
    P99_MILLIS("p99 ms", "p99Millis", "%.2f"),
    /** From sending a put to its delivery. */
    SENT_P50_MILLIS("sent p50", "p50MillisSinceSent", "%.2f"),
    SENT_P99_MILLIS("sent p99", "p99MillisSinceSent", "%.2f"),
    /** CPU time of all servers of the path per delivered event, less their idle rate: the puts' cost is in it. */
    CPU_MICROS("CPU us/event", "cpuMicrosPerEvent", "%.2f"),
    /** The same, less what as many puts cost with one watcher. */
    CPU_LESS_PUTS("CPU less puts", "cpuMicrosPerEventLessPuts", "%.2f"),
    /** CPU time of all voters per put as a share of that with one watcher. */
    VOTERS_TO_ONE("voters to 1", "votersCpuToOneWatcher", "%.2f"),
    /** Bytes between voters and their clients, both ways, per put. */
    BYTES_PER_PUT("bytes/put", "voterBytesPerPut", "%.0f"),
    BYTES_TO_ONE("bytes to 1", "voterBytesToOneWatcher", "%.2f"),
    /** Cores that the load generator took: what the servers had not. */
    LOAD_CORES("load cores", "loadGeneratorCores", "%.2f"),
    SHARED_BYTES("bytes/watcher shared", "bytesPerWatcherShared", "%.0f"),
    EACH_BYTES("bytes/watcher each", "bytesPerWatcherEach", "%.0f");

    @SuppressWarnings("ImmutableEnumChecker") // a record of plain values is
    private final Form form;

    WatchFigure(String title, String jsonName, String pattern) {
        form = new Form(title, jsonName, pattern);
    }

    @Override
    public Form form() {
        return form;
    }
}
