package io.understudy.cluster.snapshot;

import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.SnapshotRequest;
import io.etcd.jetcd.api.SnapshotResponse;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.snapshot.SnapshotDirectory.SnapshotFile;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdErrors;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves snapshots, from a healthy learner if possible, and from the leader last. So voters are spared.
 *
 * <p>A file gets its name only when it is complete, verified and on disk.
 *
 * <p>Invariant DP8: a snapshot file is whole, verified and on disk, and a restored snapshot of a learner equals the
 * source.
 */
public final class SnapshotTaker {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotTaker.class);
    private static final Duration DEADLINE = Duration.ofMinutes(30);

    /** Timeout for a member to apply the observed commit index. */
    private static final Duration APPLY_PATIENCE = Duration.ofSeconds(5);

    private static final Duration STATUS_DEADLINE = Duration.ofSeconds(2);

    private final Function<MemberId, Optional<Endpoint>> addresses;
    private final EtcdConnections connections;
    private final SnapshotTool tool;

    /**
     * @param addresses returns the last endpoint of a member that responded; the advertised one may differ
     * @param connections closed by the caller
     */
    public SnapshotTaker(
            Function<MemberId, Optional<Endpoint>> addresses, EtcdConnections connections, SnapshotTool tool) {
        this.addresses = addresses;
        this.connections = connections;
        this.tool = tool;
    }

    /**
     * A saved snapshot.
     *
     * @param member the member that provided it
     */
    public record Taken(SnapshotFile file, String member, SnapshotTool.Contents contents, Duration took) {}

    /**
     * Saves a snapshot. Blocks; an interrupt ends it.
     *
     * @throws SnapshotException no member provided a complete one; the message has the reason of each
     * @throws UncheckedIOException the file cannot be written
     */
    public Taken take(ClusterFacts facts, SnapshotDirectory directory, Instant now) {
        List<MemberFacts> members = facts.members().stream()
                .filter(MemberFacts::isHealthy)
                .filter(member -> addresses.apply(member.id()).isPresent())
                .sorted(Comparator.comparingInt((MemberFacts member) -> cost(facts, member))
                        .thenComparing(member -> facts.lag(member).orElse(Long.MAX_VALUE)))
                .toList();
        List<String> failures = new ArrayList<>();
        for (MemberFacts member : members) {
            try {
                Endpoint address = addresses.apply(member.id()).orElseThrow();
                requireCurrent(facts, member, address);
                return take(member.label(), member.isLearner(), address, directory, now);
            } catch (SnapshotException e) {
                LOG.atWarn()
                        .addKeyValue("member", member.label())
                        .addKeyValue("cause", text(e))
                        .log("snapshot from member failed");
                failures.add(text(e));
                if (Thread.currentThread().isInterrupted()) {
                    break;
                }
            }
        }
        throw new SnapshotException(
                "no healthy member provides a snapshot"
                        + (failures.isEmpty() ? "" : ": " + String.join("; ", failures)),
                null);
    }

    private static String text(SnapshotException failure) {
        return failure.getMessage() + (failure.getCause() == null ? "" : ": " + EtcdErrors.text(failure.getCause()));
    }

    private static int cost(ClusterFacts facts, MemberFacts member) {
        if (member.isLearner()) {
            return 0;
        }
        return facts.leader().filter(member::equals).isPresent() ? 2 : 1;
    }

    /** Rejects a learner that has just joined, with a nearly empty snapshot. */
    private void requireCurrent(ClusterFacts facts, MemberFacts member, Endpoint address) {
        long committed = facts.mostRecent()
                .flatMap(MemberFacts::answer)
                .map(MemberAnswer::raftIndex)
                .orElse(0L);
        Waiting.until(
                APPLY_PATIENCE,
                () -> {
                    StatusResponse status = status(member.label(), address);
                    if (status.getHeader().getClusterId() != facts.cluster().value()
                            || status.getHeader().getMemberId() != member.id().value()) {
                        throw new SnapshotException("another member responds at " + address, null);
                    }
                    return status.getRaftAppliedIndex() < committed ? Optional.empty() : Optional.of(status);
                },
                () -> new SnapshotException(
                        member.label() + " has not applied raft index " + committed + " within "
                                + APPLY_PATIENCE.toSeconds() + " s",
                        null));
    }

    private StatusResponse status(String member, Endpoint address) {
        try {
            return connections
                    .call(
                            address,
                            MaintenanceGrpc.getStatusMethod(),
                            StatusRequest.getDefaultInstance(),
                            STATUS_DEADLINE)
                    .get();
        } catch (ExecutionException e) {
            throw new SnapshotException(member + " at " + address + " does not respond", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SnapshotException("interrupted while reading the status of " + member, e);
        }
    }

    /**
     * Saves a snapshot from a learner without a cluster, and thus without a comparison.
     *
     * @throws SnapshotException it provided no complete one
     * @throws UncheckedIOException the file cannot be written
     */
    public Taken takeFromLearner(String member, Endpoint address, SnapshotDirectory directory, Instant now) {
        return take(member, true, address, directory, now);
    }

    /**
     * Saves a snapshot from the member with the most applied entries, without a quorum.
     *
     * @param cluster of the members; empty if unknown
     * @throws SnapshotException no member responds, members of another cluster do, or none provided a complete one
     * @throws UncheckedIOException the file cannot be written
     */
    public Taken takeWithoutQuorum(
            List<MachineSettings> machines, Optional<ClusterId> cluster, SnapshotDirectory directory, Instant now) {
        Map<MachineSettings, StatusResponse> responding = new HashMap<>();
        List<String> failures = new ArrayList<>();
        for (MachineSettings machine : machines) {
            try {
                responding.put(machine, status(machine.name(), endpoint(machine)));
            } catch (SnapshotException e) {
                failures.add(text(e));
            }
        }
        requireOneCluster(responding, cluster);
        Map.Entry<MachineSettings, StatusResponse> most = responding.entrySet().stream()
                .max(Comparator.comparing(
                                Map.Entry<MachineSettings, StatusResponse>::getValue,
                                Comparator.comparingLong(StatusResponse::getRaftAppliedIndex))
                        .thenComparing(each -> each.getValue().getIsLearner()))
                .orElseThrow(() -> new SnapshotException(
                        "no configured machine provides a snapshot: " + String.join("; ", failures), null));
        MachineSettings machine = most.getKey();
        return take(machine.name(), most.getValue().getIsLearner(), endpoint(machine), directory, now);
    }

    /** Applied entries of different clusters cannot be compared. */
    private static void requireOneCluster(Map<MachineSettings, StatusResponse> responding, Optional<ClusterId> known) {
        Map<String, ClusterId> clusters = new TreeMap<>();
        responding.forEach((machine, status) ->
                clusters.put(machine.name(), new ClusterId(status.getHeader().getClusterId())));
        Set<ClusterId> all = new HashSet<>(clusters.values());
        known.ifPresent(all::add);
        if (all.size() > 1) {
            throw new SnapshotException(
                    "members of different clusters respond: " + clusters
                            + known.map(id -> "; the endpoints are of cluster " + id)
                                    .orElse("")
                            + ". Correct cluster.endpoints and machines.*.clientUrls",
                    null);
        }
    }

    private static Endpoint endpoint(MachineSettings machine) {
        return Endpoint.of(machine.member().clientUrls().get(0));
    }

    private Taken take(String member, boolean isLearner, Endpoint address, SnapshotDirectory directory, Instant now) {
        Path file = directory.fileOf(now);
        Path part = SnapshotDirectory.part(file);
        long began = System.nanoTime();
        try {
            Files.createDirectories(directory.path());
            FileChannel lock = directory.deleteIncomplete();
            try {
                stream(address, part);
                SnapshotTool.Contents contents = tool.verify(part);
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
                force(directory.path());
                Duration took = Duration.ofNanos(System.nanoTime() - began);
                SnapshotFile saved = new SnapshotFile(file, now, Files.size(file), false);
                LOG.atInfo()
                        .addKeyValue("file", file)
                        .addKeyValue("member", member)
                        .addKeyValue("learner", isLearner)
                        .addKeyValue("bytes", saved.bytes())
                        .addKeyValue("revision", contents.revision())
                        .addKeyValue("ms", took.toMillis())
                        .log("snapshot saved");
                return new Taken(saved, member, contents, took);
            } finally {
                if (lock != null) {
                    lock.close();
                }
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write snapshot " + file, e);
        } catch (StatusRuntimeException e) {
            throw new SnapshotException("snapshot from " + member + " at " + address + " failed", e);
        }
    }

    private void stream(Endpoint endpoint, Path file) throws IOException {
        Context.CancellableContext call = Context.current().withCancellation();
        Context before = call.attach();
        // It has all data of the cluster: etcdctl creates it for its owner only, too.
        try (FileChannel out = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            Iterator<SnapshotResponse> parts = connections.stream(
                    endpoint, MaintenanceGrpc.getSnapshotMethod(), SnapshotRequest.getDefaultInstance(), DEADLINE);
            while (parts.hasNext()) {
                for (ByteBuffer bytes : parts.next().getBlob().asReadOnlyByteBufferList()) {
                    while (bytes.hasRemaining()) {
                        out.write(bytes);
                    }
                }
            }
            out.force(true);
        } finally {
            call.detach(before);
            call.cancel(null);
        }
    }

    /** Flushes the rename, so that it survives a crash of the machine. */
    private static void force(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
