package io.understudy.cluster.shape;

import io.understudy.config.Configured;
import java.time.Duration;

/** Conditions and durations before a supervisor changes anything. */
public record Limits(
        @Configured(
                key = "deadTime",
                value =
                        "Time after which a member is replaced that serves no linearizable read and sends nothing to the"
                                + " leader.",
                byDefault = "30s",
                range = "1s..1d")
        Duration dead,

        @Configured(
                value = "Maximum lag of a learner for promotion, in Raft entries behind the leader.",
                byDefault = "500",
                range = "0..100000")
        long maxLag,

        @Configured(
                key = "stableTime",
                value = "Time that a learner must be healthy and within maxLag before promotion.",
                byDefault = "10s",
                range = "1s..1d")
        Duration stable,

        @Configured(
                value = "Time after which a learner that has not started is removed.",
                byDefault = "10m",
                range = "1s..1d")
        Duration joinDeadline,

        @Configured(
                value =
                        "Backoff before a machine is used again after its member failed or did not join; doubles each time,"
                                + " up to 64 times.",
                byDefault = "1m",
                range = "1s..1d")
        Duration holdOff,

        @Configured(
                value =
                        "Maximum additions and removals of voting members per hour, from all sources; a replacement counts"
                                + " two.",
                byDefault = "12",
                range = "2..1000")
        int changesPerHour) {}
