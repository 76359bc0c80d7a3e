package io.understudy.cluster.snapshot;

import java.nio.file.Path;
import java.time.Instant;

/**
 * A snapshot that is whole.
 *
 * @param taken when it was begun
 * @param isUploaded whether the upload command has taken it
 */
public record SnapshotFile(Path path, Instant taken, long bytes, boolean isUploaded) {}
