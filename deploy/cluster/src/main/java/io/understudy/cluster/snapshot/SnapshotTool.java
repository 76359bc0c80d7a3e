package io.understudy.cluster.snapshot;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * etcd's own program for snapshots: {@code etcdutl}, or {@code etcdctl} before 3.6.
 *
 * @param program absolute path
 */
public record SnapshotTool(Path program) {

    private static final Duration DEADLINE = Duration.ofMinutes(10);
    private static final Duration VERSION_DEADLINE = Duration.ofSeconds(20);
    private static final ProgramVersion WITHOUT_ETCDCTL = new ProgramVersion(3, 6, 0);
    /** The first with {@code --bump-revision} (CHANGELOG-3.5 of etcd). */
    private static final ProgramVersion BUMPING = new ProgramVersion(3, 5, 10);

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern GO_STACK_TRACE = Pattern.compile("(?s)\\s+goroutine \\d+ .*");

    /**
     * The content of a snapshot.
     *
     * @param revision its last revision
     * @param keys number of keys; etcdutl before 3.6 counts all their revisions
     * @param hash CRC-32C of its buckets, in hexadecimal as etcdutl prints it
     * @param version storage version; empty before 3.6
     */
    public record Contents(long revision, long keys, String hash, String version) {}

    /** Returns this machine's tool. With {@code etcdutl} on PATH, as in the container image, no other program is needed. */
    private static SnapshotTool find() {
        Optional<SnapshotTool> onPath = EtcdBinaries.areNamed()
                ? Optional.empty()
                : onPath(System.getenv().getOrDefault("PATH", ""));
        return onPath.orElseGet(() -> of(EtcdBinaries.find()));
    }

    /** Returns the tool in the first of these folders that has it. */
    static Optional<SnapshotTool> onPath(String folders) {
        return Stream.of(folders.split(File.pathSeparator, -1))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, "etcdutl").toAbsolutePath())
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst()
                .map(SnapshotTool::new);
    }

    /**
     * Returns the tool beside the server that machines name, or else that of this machine. The former has the version
     * of the data.
     *
     * @throws io.understudy.local.binary.EtcdNotFoundException there is none, and it cannot be fetched
     */
    public static SnapshotTool of(List<MachineSettings> machines) {
        return machines.stream()
                .flatMap(machine -> machine.program().stream())
                .map(program -> program.resolveSibling("etcdutl"))
                .filter(Files::isExecutable)
                .findFirst()
                .map(SnapshotTool::new)
                .orElseGet(SnapshotTool::find);
    }

    /**
     * Returns the tool among these programs.
     *
     * @throws SnapshotException etcdutl is missing, and etcdctl no longer reads snapshots
     */
    public static SnapshotTool of(EtcdBinaries binaries) {
        Path etcdutl = binaries.etcdutl();
        if (etcdutl != null) {
            return new SnapshotTool(etcdutl);
        }
        if (binaries.version().isAtLeast(WITHOUT_ETCDCTL)) {
            throw new SnapshotException(
                    "etcdutl is missing: not on PATH and not beside " + binaries.etcd()
                            + "; etcdctl does not read snapshots since etcd 3.6. Install etcdutl " + binaries.version(),
                    null);
        }
        return new SnapshotTool(binaries.etcdctl());
    }

    /**
     * Returns this tool if it can increase the revision of a snapshot.
     *
     * @throws SnapshotException it is too old, or does not run
     */
    public SnapshotTool requireBump() {
        try {
            String printed = Command.of(List.of(program.toString(), "version"))
                    .with("ETCDCTL_API", "3")
                    .run(VERSION_DEADLINE);
            ProgramVersion version = ProgramVersion.in(printed)
                    .orElseThrow(() -> new SnapshotException(
                            "cannot read the version of " + program + ": " + printed.strip(), null));
            if (!version.isAtLeast(BUMPING)) {
                throw new SnapshotException(
                        program + " has version " + version + "; --bump-revision requires " + BUMPING
                                + " or later: install a later version",
                        null);
            }
            return this;
        } catch (CommandFailedException e) {
            throw new SnapshotException("cannot read the version of " + program, e);
        }
    }

    /**
     * Verifies a snapshot as a restore does: its digest, the pages of its database, and its revisions.
     *
     * @throws SnapshotException it is truncated, damaged or unreadable
     */
    public Contents verify(Path file) {
        try {
            Digest.require(file);
        } catch (IOException e) {
            throw new SnapshotException("cannot read snapshot " + file, e);
        }
        return contents(file);
    }

    /**
     * Reads a snapshot, or the database of a stopped member.
     *
     * @throws SnapshotException it is unreadable
     */
    public Contents contents(Path file) {
        try {
            JsonNode status = JSON.readTree(
                    run(List.of(program.toString(), "snapshot", "status", file.toString(), "--write-out=json")));
            return new Contents(
                    status.path("revision").asLong(),
                    status.path("totalKey").asLong(),
                    Long.toHexString(status.path("hash").asLong()),
                    storageVersion(file));
        } catch (CommandFailedException e) {
            // bbolt panics on a damaged page: keep the reason without the stack trace.
            throw new SnapshotException(
                    GO_STACK_TRACE.matcher(e.getMessage()).replaceFirst("").replace("\n", "; "), null);
        } catch (IOException e) {
            throw new SnapshotException("cannot read snapshot " + file, e);
        }
    }

    /**
     * Returns the storage version of a snapshot or database; empty before 3.6. etcdutl before 3.6 does not print it.
     *
     * @throws IOException the file cannot be read
     */
    public static String storageVersion(Path file) throws IOException {
        try (BoltFile bolt = BoltFile.open(file)) {
            return bolt.text("meta", "storageVersion").orElse("");
        }
    }

    /**
     * Makes a member's data from a snapshot.
     *
     * @param directory must not exist
     */
    void restore(Path snapshot, MachineSettings machine, Path directory, Founding cluster) {
        try {
            var unused = run(restoring(snapshot, machine.member(), directory, cluster));
        } catch (CommandFailedException e) {
            throw new SnapshotException("cannot restore snapshot " + snapshot + " into " + directory, e);
        }
    }

    /** The command line that does so. */
    List<String> restoring(Path snapshot, MemberSpec member, Path directory, Founding cluster) {
        List<String> line = new ArrayList<>(List.of(
                program.toString(),
                "snapshot",
                "restore",
                snapshot.toString(),
                "--name=" + member.name(),
                "--data-dir=" + directory,
                "--initial-cluster=" + cluster.initialCluster(),
                "--initial-cluster-token=" + cluster.token(),
                "--initial-advertise-peer-urls="
                        + member.peerUrls().stream().map(URI::toString).collect(Collectors.joining(","))));
        if (!cluster.hasDigest()) {
            line.add("--skip-hash-check");
        }
        if (cluster.bump() > 0) {
            line.add("--bump-revision=" + cluster.bump());
            line.add("--mark-compacted");
        }
        return line;
    }

    private static String run(List<String> line) {
        return Command.of(line).with("ETCDCTL_API", "3").run(DEADLINE);
    }

    /** The SHA-256 of a database, which its member appends when it sends a snapshot. */
    public static final class Digest {

        private static final int BYTES = 32;
        /** Unit of a database's size. */
        private static final int PAGE_BYTES = 512;

        private Digest() {}

        /**
         * Verifies the digest of a whole file.
         *
         * @throws SnapshotException the file is truncated or damaged
         * @throws IOException the file cannot be read
         */
        public static void require(Path file) throws IOException {
            long size = Files.size(file);
            if (size <= BYTES || size % PAGE_BYTES != BYTES) {
                throw new SnapshotException(
                        "snapshot " + file + " has " + size + " bytes: it is truncated, or has no digest", null);
            }
            try (InputStream in = Files.newInputStream(file)) {
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                byte[] buffer = new byte[1 << 16];
                for (long left = size - BYTES; left > 0; ) {
                    int read = in.readNBytes(buffer, 0, (int) Math.min(left, buffer.length));
                    digest.update(buffer, 0, read);
                    left -= read;
                }
                if (!Arrays.equals(digest.digest(), in.readAllBytes())) {
                    throw new SnapshotException("snapshot " + file + " is damaged: digest mismatch", null);
                }
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("SHA-256 is not available", e);
            }
        }
    }

    /** A snapshot could not be taken, is damaged, or can't be restored. The message names which and why. */
    public static final class SnapshotException extends RuntimeException {

        public SnapshotException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
