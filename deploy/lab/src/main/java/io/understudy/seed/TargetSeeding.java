package io.understudy.seed;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.run.LogExplanation;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.etcd.StorageStatus;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.PatientCalls;
import io.understudy.mirror.takeover.TakeOverException;
import io.understudy.seed.Seed.SeedException;
import io.understudy.vocabulary.Counted;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Creates a member's data directory from a snapshot, without data that must not survive. */
public final class TargetSeeding {

    private static final Duration CHUNK_DEADLINE = Duration.ofSeconds(30);
    private static final Duration START_DEADLINE = Duration.ofSeconds(60);
    private static final Duration ATTEMPT = Duration.ofSeconds(1);
    private static final int LOG_LINES = 100;
    private static final long REPORT_BYTES = 64L << 20;

    private final EtcdBinaries binaries;
    private final RestoreTool tool;
    private final @Nullable Credentials credentials;
    private final Consumer<String> progress;

    /**
     * Creates directories with these programs.
     *
     * @param credentials of a user with the role root, if the source has authentication
     * @param progress receives each step
     * @throws SeedException the programs are unsuitable
     */
    public TargetSeeding(EtcdBinaries binaries, @Nullable Credentials credentials, Consumer<String> progress) {
        this.binaries = binaries;
        this.tool = RestoreTool.of(binaries);
        this.credentials = credentials;
        this.progress = progress;
    }

    /**
     * Makes the checks of {@link #make} that change nothing, and reports both versions.
     *
     * @param patience how long the source may take to respond
     * @throws SeedException the directory exists, or the programs do not support the source's data
     * @throws TakeOverException the source does not respond, or refuses the user
     */
    public void check(EtcdCluster source, Seed seed, Duration patience) {
        if (Files.exists(seed.directory())) {
            throw new SeedException(seed.directory() + " exists; specify a new directory", null);
        }
        StatusResponse status = new PatientCalls(source, credentials, patience)
                .call(
                        "its status",
                        MaintenanceGrpc::newBlockingStub,
                        stub -> stub.status(StatusRequest.getDefaultInstance()));
        EtcdVersion storage = EtcdVersion.parse(StorageStatus.of(status).version());
        if (!EtcdVersion.parse(binaries.version().toString()).supportsData(storage)) {
            throw new SeedException(
                    "the source's data have storage version " + storage + ", which etcd " + binaries.version() + ", "
                            + binaries.etcd() + ", does not support: set UNDERSTUDY_ETCD to etcd " + storage.major()
                            + "." + storage.minor() + " or later",
                    null);
        }
        progress.accept("source runs etcd " + status.getVersion() + "; " + seed.member() + " will run etcd "
                + binaries.version() + ", " + binaries.etcd());
    }

    /**
     * Creates a directory. A failure leaves nothing behind.
     *
     * @param patience how long the source may take to respond
     * @throws SeedException it cannot be created
     * @throws TakeOverException the source provided no snapshot
     */
    public void make(EtcdCluster source, Seed seed, Duration patience) throws IOException {
        check(source, seed, patience);
        Path directory = seed.directory();
        Files.createDirectories(seed.folder());
        Path snapshot = directory.resolveSibling(directory.getFileName() + ".snapshot");
        boolean done = false;
        try {
            Endpoint from = new SourceSnapshot(new PatientCalls(source, credentials, START_DEADLINE), CHUNK_DEADLINE)
                    .save(snapshot, new Progress()::bytes);
            progress.accept("snapshot of " + from + ", " + Files.size(snapshot) + " bytes, intact");
            tool.restore(snapshot, seed);
            progress.accept("restored into " + directory + ", revision increased by " + seed.bump());
            clean(seed);
            done = true;
        } finally {
            Files.deleteIfExists(snapshot);
            if (!done && Files.exists(directory)) {
                Folders.delete(directory);
            }
        }
    }

    private void clean(Seed seed) throws IOException {
        Path log = Files.createTempFile("understudy-init-target-", ".log");
        try (FreePorts ports = FreePorts.take(2)) {
            URI client = URI.create("http://127.0.0.1:" + ports.get(0));
            URI peer = URI.create("http://127.0.0.1:" + ports.get(1));
            List<String> line = new ArrayList<>(List.of(
                    "--name=" + seed.member(),
                    "--data-dir=" + seed.directory(),
                    "--listen-client-urls=" + client,
                    "--advertise-client-urls=" + client,
                    "--listen-peer-urls=" + peer,
                    seed.advertisePeerUrls(),
                    seed.initialCluster(),
                    "--initial-cluster-token=" + seed.token(),
                    "--log-outputs=stderr"));
            ServerCommand command = new ServerCommand("restored", binaries.etcd(), line, Map.of(), seed.folder(), log);
            try (ServerProcess member = new LocalProcesses().prepare(command);
                    EtcdCluster cluster = EtcdCluster.connect(
                            EtcdSettings.of(client).withName("restored").withDiscovery(MemberDiscovery.CONFIGURED),
                            new SimpleMeterRegistry())) {
                member.start();
                PatientCalls calls = new PatientCalls(cluster, credentials, START_DEADLINE);
                awaitServing(member, calls);
                Leftovers leftovers = new Leftovers(calls);
                Leftovers.Removed removed = leftovers.remove(leases(client));
                member.stop();
                progress.accept(
                        "removed " + Counted.of(removed.reserved(), "reserved key") + " of the source's mirrors and "
                                + Counted.of(removed.leases(), "lease") + "; detached "
                                + Counted.of(removed.detached(), "key") + " from leases");
            } catch (TakeOverException e) {
                throw new SeedException("cannot clean up the restored member; see its log " + log, e);
            }
        }
        Files.delete(log);
    }

    /** Waits until the member responds; fails at once if it has exited, or refuses the user. */
    static void awaitServing(ServerProcess member, PatientCalls calls) {
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(ReservedKeys.RANGE.etcdKey())
                .setCountOnly(true)
                .build();
        AtomicReference<@Nullable TakeOverException> last = new AtomicReference<>();
        boolean unused = Waiting.until(
                START_DEADLINE,
                () -> {
                    boolean isAlive = member.isAlive();
                    try {
                        var unusedAnswer = calls.with(ATTEMPT).range(request);
                        return Optional.of(true);
                    } catch (TakeOverException e) {
                        if (isAlive && e.isFinal()) {
                            throw e;
                        }
                        if (isAlive) {
                            last.set(e);
                            return Optional.empty();
                        }
                        throw new SeedException(
                                "the restored member has exited, see "
                                        + member.log().file()
                                        + LogExplanation.text(member.log().tail(LOG_LINES)),
                                null);
                    }
                },
                () -> new SeedException(
                        "the restored member does not respond within " + START_DEADLINE.toSeconds() + " s; see "
                                + member.log().file(),
                        last.get()));
    }

    /** Returns the leases, by {@code etcdctl}: jetcd's messages lack the call. */
    private List<Long> leases(URI client) {
        Command list = Command.of(List.of(binaries.etcdctl().toString(), "--endpoints=" + client, "lease", "list"));
        Credentials user = credentials;
        return (user == null ? list : list.with("ETCDCTL_USER", user.user() + ":" + user.password()))
                .with("ETCDCTL_API", "3")
                .run(START_DEADLINE)
                .lines()
                .filter(line -> line.matches("[0-9a-f]{1,16}"))
                .map(line -> Long.parseUnsignedLong(line, 16))
                .toList();
    }

    /** Reports the size at intervals. */
    private final class Progress {
        private long next = REPORT_BYTES;

        private void bytes(long count) {
            if (count >= next) {
                progress.accept("snapshot: " + (count >> 20) + " MiB");
                next = count + REPORT_BYTES;
            }
        }
    }

    /** @param program {@code etcdutl}, or {@code etcdctl} before 3.6, that can increase revisions */
    private record RestoreTool(Path program) {

        private static final Duration DEADLINE = Duration.ofMinutes(10);

        static RestoreTool of(EtcdBinaries binaries) {
            try {
                return new RestoreTool(SnapshotTool.of(binaries).requireBump().program());
            } catch (SnapshotException e) {
                throw new SeedException(e.getMessage() + ", and set UNDERSTUDY_ETCD to its directory", e);
            }
        }

        void restore(Path snapshot, Seed seed) {
            try {
                var unused = Command.of(List.of(
                                program.toString(),
                                "snapshot",
                                "restore",
                                snapshot.toString(),
                                "--data-dir=" + seed.directory(),
                                "--name=" + seed.member(),
                                seed.initialCluster(),
                                seed.advertisePeerUrls(),
                                "--initial-cluster-token=" + seed.token(),
                                "--bump-revision=" + seed.bump(),
                                "--mark-compacted"))
                        .with("ETCDCTL_API", "3")
                        .run(DEADLINE);
            } catch (CommandFailedException e) {
                throw new SeedException("cannot restore the snapshot into " + seed.directory(), e);
            }
        }
    }

    /**
     * Data of a restored snapshot that the target must not have: mirror keys and leases.
     *
     * <p>With the source's mirror keys the target would appear to be mirrored into already. No client keeps the leases
     * alive here, so they would expire and delete their keys; a mirror that keeps leases grants them itself. Keys with a
     * lease stay, without it.
     */
    private record Leftovers(PatientCalls target) {

        private static final int BATCH = 64;

        /** The removed data. */
        record Removed(long reserved, long leases, long detached) {}

        /** @param leases all leases of the target */
        Removed remove(List<Long> leases) {
            long reserved = removeReserved();
            long detached = 0;
            for (long lease : leases) {
                detached += detach(lease);
                revoke(lease);
            }
            return new Removed(reserved, leases.size(), detached);
        }

        private long removeReserved() {
            return target.txn(
                            "the deletion of reserved keys",
                            TxnRequest.newBuilder()
                                    .addSuccess(RequestOp.newBuilder()
                                            .setRequestDeleteRange(DeleteRangeRequest.newBuilder()
                                                    .setKey(ReservedKeys.RANGE.etcdKey())
                                                    .setRangeEnd(ReservedKeys.RANGE.etcdRangeEnd())))
                                    .build())
                    .getResponses(0)
                    .getResponseDeleteRange()
                    .getDeleted();
        }

        /** Detaches the lease's listed keys: etcd 3.7 omits leases from reads without values. */
        private long detach(long lease) {
            LeaseTimeToLiveRequest request = LeaseTimeToLiveRequest.newBuilder()
                    .setID(lease)
                    .setKeys(true)
                    .build();
            List<ByteString> keys = target.call(
                            "the keys of a lease", LeaseGrpc::newBlockingStub, stub -> stub.leaseTimeToLive(request))
                    .getKeysList();
            for (int from = 0; from < keys.size(); from += BATCH) {
                detach(keys.subList(from, Math.min(keys.size(), from + BATCH)));
            }
            return keys.size();
        }

        /** Puts keys that still exist again with their value, and no lease. */
        private void detach(List<ByteString> keys) {
            TxnRequest.Builder all = TxnRequest.newBuilder();
            for (ByteString key : keys) {
                all.addSuccess(RequestOp.newBuilder()
                        .setRequestTxn(TxnRequest.newBuilder()
                                .addCompare(Compare.newBuilder()
                                        .setKey(key)
                                        .setTarget(Compare.CompareTarget.VERSION)
                                        .setResult(Compare.CompareResult.GREATER)
                                        .setVersion(0))
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestPut(PutRequest.newBuilder()
                                                .setKey(key)
                                                .setIgnoreValue(true)))));
            }
            var unused = target.txn("the detachment of keys from leases", all.build());
        }

        private void revoke(long lease) {
            LeaseRevokeRequest request =
                    LeaseRevokeRequest.newBuilder().setID(lease).build();
            try {
                var unused = target.call(
                        "the revocation of a lease", LeaseGrpc::newBlockingStub, stub -> stub.leaseRevoke(request));
            } catch (TakeOverException e) {
                if (!String.valueOf(e.getMessage()).contains("requested lease not found")) {
                    throw e;
                }
            }
        }
    }
}
