package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Measurements of one member over several observations.
 *
 * @param silence time since it last received Raft messages from each other member; empty without two metrics pages, of
 *     which one is of this observation
 * @param stalled time for which a follower's log, as the leader sees it, has been behind the commit index without
 *     progress; measured only on suspicion
 * @param fsync mean duration of a WAL fsync, within the last seconds
 * @param refuses whether its client URLs refuse connections, as after the end of a process
 */
public record Measurements(
        Map<MemberId, Duration> silence, Map<MemberId, Duration> stalled, Optional<Duration> fsync, boolean refuses) {

    public static final Measurements NONE = new Measurements(Map.of(), Map.of(), Optional.empty(), false);

    /** Longer than several heartbeats, shorter than a usual election timeout of slow networks. */
    public static final Duration RECENT = Duration.ofSeconds(2);

    public Measurements {
        silence = Map.copyOf(silence);
        stalled = Map.copyOf(stalled);
    }

    Measurements refused() {
        return new Measurements(silence, stalled, fsync, true);
    }

    /** Whether Raft messages of that member arrived recently; false if not measured. */
    public boolean hears(MemberId member) {
        Duration since = silence.get(member);
        return since != null && since.compareTo(RECENT) < 0;
    }
}
