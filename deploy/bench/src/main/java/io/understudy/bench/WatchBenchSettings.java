package io.understudy.bench;

import static io.understudy.bench.Schedule.require;

import java.util.List;

/**
 * Settings of the watch benchmarks.
 *
 * @param putsPerSecond in the works with a steady rate
 * @param inFlight in the works without one, how many puts may be under way, sent, but not yet with all watchers: each is
 *     tried, in this order
 */
public record WatchBenchSettings(List<WatchWork> works, Schedule schedule, int putsPerSecond, List<Integer> inFlight) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException a value is not allowed
     */
    public WatchBenchSettings {
        works = works.stream().distinct().sorted().toList();
        require(!works.isEmpty(), "no benchmark selected");
        require(putsPerSecond > 0, "puts per second must be at least 1, not " + putsPerSecond);
        inFlight = List.copyOf(inFlight);
        require(
                !inFlight.isEmpty() && inFlight.stream().allMatch(each -> each > 0),
                "puts in flight must be at least 1, not " + inFlight);
    }

    /** The end of the description of a work. */
    String demand(WatchWork work) {
        return switch (work.demand()) {
            case NONE -> ": growth of the serving process's resident memory; for the gateway after 'jcmd GC.run'";
            case PACED -> ", " + putsPerSecond + " puts/s";
            case FULL ->
                ", puts as fast as the number in flight allows (sent, not yet delivered to every watcher): the fastest of "
                        + inFlight;
        };
    }
}
