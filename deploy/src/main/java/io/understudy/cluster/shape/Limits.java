package io.understudy.cluster.shape;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * What has to be so, and for how long, before a supervisor changes anything.
 *
 * @param dead for so long a member must have answered nobody before it is taken for dead
 * @param maxLag so many raft entries a learner may be behind the leader to be promoted
 * @param stable for so long it must have been healthy and no further behind than that
 * @param joinDeadline within it a new learner must have started, or it is removed again
 * @param holdOff for so long a machine whose member died or did not join is left alone; doubled each time, up to 64 times
 * @param changesPerHour so many times per hour a voter is removed or added at most, whoever did it
 */
public record Limits(
        Duration dead, long maxLag, Duration stable, Duration joinDeadline, Duration holdOff, int changesPerHour) {

    private static final Duration DEFAULT_DEAD = Duration.ofSeconds(30);
    private static final Duration DEFAULT_STABLE = Duration.ofSeconds(10);
    private static final Duration DEFAULT_JOIN = Duration.ofMinutes(10);
    private static final Duration DEFAULT_HOLD_OFF = Duration.ofMinutes(1);
    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final Duration MOST = Duration.ofDays(1);
    private static final int DEFAULT_LAG = 500;
    private static final int MOST_LAG = 100_000;
    private static final int DEFAULT_CHANGES = 12;
    private static final int MOST_CHANGES = 1_000;

    private static final Setting<Duration> DEAD = Setting.duration(
                    "deadTime",
                    "Time after which a member is replaced that serves no linearizable read and sends nothing to the"
                            + " leader.")
            .defaultsTo(DEFAULT_DEAD)
            .between(LEAST, MOST);
    private static final Setting<Integer> MAX_LAG = Setting.integer(
                    "maxLag", "Maximum lag of a learner for promotion, in Raft entries behind the leader.")
            .defaultsTo(DEFAULT_LAG)
            .between(0, MOST_LAG);
    private static final Setting<Duration> STABLE = Setting.duration(
                    "stableTime", "Time that a learner must be healthy and within maxLag before promotion.")
            .defaultsTo(DEFAULT_STABLE)
            .between(LEAST, MOST);
    private static final Setting<Duration> JOIN_DEADLINE = Setting.duration(
                    "joinDeadline", "Time after which a learner that has not started is removed.")
            .defaultsTo(DEFAULT_JOIN)
            .between(LEAST, MOST);
    private static final Setting<Duration> HOLD_OFF = Setting.duration(
                    "holdOff",
                    "Backoff before a machine is used again after its member failed or did not join; doubles each time.")
            .defaultsTo(DEFAULT_HOLD_OFF)
            .between(LEAST, MOST);
    private static final Setting<Integer> CHANGES = Setting.integer(
                    "changesPerHour",
                    "Maximum additions and removals of voting members per hour, from all sources; a replacement counts two.")
            .defaultsTo(DEFAULT_CHANGES)
            .between(2, MOST_CHANGES);

    /** Relative to the group {@code shape}, beside those of {@link Shape}. */
    public static final List<Setting<?>> ROWS = List.of(DEAD, MAX_LAG, STABLE, JOIN_DEADLINE, HOLD_OFF, CHANGES);

    /**
     * What {@link #ROWS} say.
     *
     * @param group the part of the configuration the rows were put under
     */
    public static Limits from(Configuration group) {
        return new Limits(
                group.get(DEAD),
                group.get(MAX_LAG),
                group.get(STABLE),
                group.get(JOIN_DEADLINE),
                group.get(HOLD_OFF),
                group.get(CHANGES));
    }
}
