package io.understudy.cluster.snapshot;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * When snapshots are taken, and where they are kept.
 *
 * @param directory empty if none are taken
 * @param interval from one to the next
 * @param keepCount how many of the newest stay, whatever their age
 * @param keepAge how long the others stay
 * @param uploadCommand what is run for each new one, program first; empty for nothing
 * @param uploadDeadline after which it is killed
 */
public record SnapshotSettings(
        Optional<Path> directory,
        Duration interval,
        int keepCount,
        Duration keepAge,
        List<String> uploadCommand,
        Duration uploadDeadline) {

    private static final Setting<Path> DIRECTORY = Setting.path(
                    "directory",
                    "Directory for snapshots; enables periodic snapshots. Only snapshot files with generated names are"
                            + " ever deleted.")
            .optionally()
            .example("/var/lib/understudy/snapshots");
    private static final Setting<Duration> INTERVAL = Setting.duration("interval", "Interval between snapshots.")
            .defaultsTo(Duration.ofHours(1))
            .between(Duration.ofSeconds(1), Duration.ofDays(30));
    private static final Setting<Integer> KEEP_COUNT = Setting.integer(
                    "keepCount", "Number of newest snapshots to keep regardless of age.")
            .defaultsTo(24)
            .between(1, 10_000);
    private static final Setting<Duration> KEEP_AGE = Setting.duration(
                    "keepAge", "Retention of snapshots beyond keepCount; 0 deletes them immediately.")
            .defaultsTo(Duration.ofDays(7))
            .between(Duration.ZERO, Duration.ofDays(3650));
    private static final Setting<List<String>> UPLOAD_COMMAND = Setting.texts(
                    "uploadCommand",
                    "Command that uploads a snapshot: program and arguments. UNDERSTUDY_SNAPSHOT holds the path of the"
                            + " file. A failed upload is retried with the next snapshot.")
            .optionally()
            .example("/usr/local/bin/upload-snapshot");
    private static final Setting<Duration> UPLOAD_DEADLINE = Setting.duration(
                    "uploadDeadline", "Timeout of uploadCommand.")
            .defaultsTo(Duration.ofMinutes(10))
            .between(Duration.ofSeconds(1), Duration.ofHours(12));

    /** As rows relative to their group. */
    public static final List<Setting<?>> ROWS =
            List.of(DIRECTORY, INTERVAL, KEEP_COUNT, KEEP_AGE, UPLOAD_COMMAND, UPLOAD_DEADLINE);

    public SnapshotSettings {
        uploadCommand = List.copyOf(uploadCommand);
    }

    /** What {@link #ROWS} say. */
    public static SnapshotSettings from(Configuration group) {
        return new SnapshotSettings(
                group.find(DIRECTORY),
                group.get(INTERVAL),
                group.get(KEEP_COUNT),
                group.get(KEEP_AGE),
                group.find(UPLOAD_COMMAND).orElse(List.of()),
                group.get(UPLOAD_DEADLINE));
    }
}
