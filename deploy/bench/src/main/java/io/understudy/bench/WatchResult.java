package io.understudy.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a work went, by every path.
 *
 * @param warmUps how long each path was warmed up before its first run
 * @param idleRates CPU microseconds that servers used per second without watchers and puts
 */
record WatchResult(
        WatchWork work,
        Map<ServerPath, Duration> warmUps,
        Map<Role, Double> idleRates,
        Map<ServerPath, PathResult<WatchRun>> paths) {

    WatchResult {
        warmUps = Map.copyOf(warmUps);
        idleRates = Map.copyOf(idleRates);
        paths = Map.copyOf(paths);
    }

    /** Of those aims for which everything was measured. */
    List<WatchAim.Outcome> outcomes() {
        return work.aims().stream()
                .map(aim -> aim.outcome(paths))
                .flatMap(Optional::stream)
                .toList();
    }
}
