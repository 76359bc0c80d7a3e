package io.understudy.cluster.snapshot;

import io.understudy.config.Configured;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Settings of periodic snapshots.
 *
 * @param directory empty if none are taken
 * @param uploadCommand program first; empty for nothing
 */
public record SnapshotSettings(
        @Configured(
                value =
                        "Directory for snapshots; enables periodic snapshots. Only snapshot files with generated names are"
                                + " ever deleted.",
                example = "/var/lib/understudy/snapshots")
        Optional<Path> directory,

        @Configured(value = "Interval between snapshots.", byDefault = "1h", range = "1s..30d")
        Duration interval,

        @Configured(
                value = "Number of newest snapshots to keep regardless of age.",
                byDefault = "24",
                range = "1..10000")
        int keepCount,

        @Configured(
                value = "Retention of snapshots beyond keepCount; 0 deletes them immediately.",
                byDefault = "7d",
                range = "0..3650d")
        Duration keepAge,

        @Configured(
                value =
                        "Command that uploads a snapshot: program and arguments. UNDERSTUDY_SNAPSHOT holds the path of the"
                                + " file. A failed upload is retried with the next snapshot.",
                optional = true,
                example = "/usr/local/bin/upload-snapshot")
        List<String> uploadCommand,

        @Configured(value = "Timeout of uploadCommand.", byDefault = "10m", range = "1s..12h")
        Duration uploadDeadline) {

    public SnapshotSettings {
        uploadCommand = List.copyOf(uploadCommand);
    }
}
