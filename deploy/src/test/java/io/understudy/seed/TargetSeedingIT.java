package io.understudy.seed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.seed.Seed.SeedException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A real source, a snapshot of it restored, and a real etcd on that, from which a mirror continues. */
final class TargetSeedingIT {

    private static final long BUMP = 1_000_000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @TempDir
    private Path folder;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

    @Test
    void makesATargetFarAheadWithoutWhatMustNotSurvive() throws Exception {
        URI sourceUrl = SOURCE.cluster().leader().clientUrl();
        ManagedChannel source = channel(sourceUrl);
        KVGrpc.KVBlockingStub kv = KVGrpc.newBlockingStub(source);
        long lease = LeaseGrpc.newBlockingStub(source)
                .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(600).build())
                .getID();
        for (int i = 0; i < 200; i++) {
            put(kv, "/k/" + i, "v" + i, i % 2 == 0 ? lease : 0);
        }
        put(kv, "\0understudy/mirror/other/checkpoint", "of another mirror", 0);
        long seen = get(kv, "/k/", "/k0").getHeader().getRevision();
        EtcdBinaries binaries = EtcdBinaries.find();
        try (FreePorts ports = FreePorts.take(2);
                EtcdCluster cluster = EtcdCluster.connect(EtcdSettings.of(sourceUrl), meters)) {
            URI client = URI.create("http://127.0.0.1:" + ports.get(0));
            Seed seed = new Seed(
                    folder.resolve("dr"),
                    "dr-1",
                    List.of(URI.create("http://127.0.0.1:" + ports.get(1))),
                    List.of(client),
                    "dr",
                    BUMP);
            List<String> progress = new ArrayList<>();
            TargetSeeding seeding = new TargetSeeding(binaries, null, progress::add);
            seeding.check(cluster, seed, PATIENCE);
            assertThat(progress)
                    .containsExactly("source runs etcd " + binaries.version() + "; dr-1 will run etcd "
                            + binaries.version() + ", " + binaries.etcd());
            assertThat(folder).isEmptyDirectory();
            seeding.make(cluster, seed, PATIENCE);
            assertThat(progress)
                    .anyMatch(line -> line.startsWith("removed 1 reserved key of")
                            && line.contains("1 lease; detached 100 keys"));

            List<String> command = seed.startCommand(binaries.etcd());
            try (ServerProcess member = new LocalProcesses()
                    .prepare(new ServerCommand(
                            "dr-1",
                            Path.of(command.get(0)),
                            command.subList(1, command.size()),
                            Map.of(),
                            folder,
                            folder.resolve("log")))) {
                member.start();
                ManagedChannel target = channel(client);
                KVGrpc.KVBlockingStub copy = KVGrpc.newBlockingStub(target).withWaitForReady();
                RangeResponse found = get(copy, "/k/", "/k0");
                assertThat(found.getKvsList()).hasSize(200).allMatch(each -> each.getLease() == 0);
                assertThat(found.getHeader().getRevision()).isGreaterThan(seen + BUMP);
                assertThat(get(copy, "\0understudy/", "\0understudy0").getKvsList())
                        .isEmpty();
                assertThatThrownBy(() -> getAt(copy, seen)).hasMessageContaining("compacted");

                long before = found.getHeader().getRevision();
                put(kv, "/k/7", "changed", 0);
                mirror(sourceUrl, client);
                List<KeyValue> mirrored = get(copy, "/k/", "/k0").getKvsList();
                assertThat(mirrored)
                        .filteredOn(each -> each.getModRevision() > before)
                        .hasSize(1);
                target.shutdownNow();
            }
            assertThatThrownBy(() -> seeding.check(cluster, seed, PATIENCE)).hasMessageContaining("exists");
        } finally {
            source.shutdownNow();
        }
        assertThat(Files.exists(folder.resolve("dr.snapshot"))).isFalse();
    }

    @Test
    void aRestoredMemberThatExitsIsNotAwaited() throws Exception {
        EtcdBinaries real = EtcdBinaries.find();
        Path etcd = Files.writeString(folder.resolve("etcd"), """
                #!/bin/sh
                echo '{"level":"fatal","msg":"discovery failed","error":"not supported"}' >&2
                exit 1
                """);
        Files.setPosixFilePermissions(etcd, PosixFilePermissions.fromString("rwx------"));
        TargetSeeding seeding = new TargetSeeding(
                new EtcdBinaries(etcd, real.etcdctl(), real.etcdutl(), real.version()), null, line -> {});
        URI url = URI.create("http://127.0.0.1:1");
        Seed seed = new Seed(folder.resolve("dr"), "dr-1", List.of(url), List.of(url), "dr", BUMP);
        try (EtcdCluster cluster =
                EtcdCluster.connect(EtcdSettings.of(SOURCE.cluster().leader().clientUrl()), meters)) {
            assertThatThrownBy(() -> seeding.make(cluster, seed, PATIENCE))
                    .isInstanceOf(SeedException.class)
                    .hasMessageStartingWith("the restored member has exited")
                    .hasMessageContaining("not supported");
        }
        assertThat(seed.directory()).doesNotExist();
    }

    private void mirror(URI source, URI target) throws Exception {
        try (MirrorProcess process = MirrorProcess.start(new MirrorSettings(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                List.of(new MirrorSettings.Mirror(
                        "dr",
                        MirrorSettings.Source.Etcd.of(EtcdSettings.of(source)),
                        MirrorScope.all(),
                        MirrorSettings.Target.Etcd.of(
                                EtcdSettings.of(target), EtcdSinkOptions.DEFAULTS.with(ForeignKeys.DELETE))))))) {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> process.reports().get(0).state() == MirrorState.SYNCED);
        }
    }

    private static void put(KVGrpc.KVBlockingStub kv, String key, String value, long lease) {
        var unused = kv.withDeadlineAfter(10, TimeUnit.SECONDS)
                .put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setValue(ByteString.copyFromUtf8(value))
                        .setLease(lease)
                        .build());
    }

    private static RangeResponse get(KVGrpc.KVBlockingStub kv, String from, String to) {
        return kv.withDeadlineAfter(30, TimeUnit.SECONDS)
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(from))
                        .setRangeEnd(ByteString.copyFromUtf8(to))
                        .build());
    }

    private static RangeResponse getAt(KVGrpc.KVBlockingStub kv, long revision) {
        return kv.withDeadlineAfter(10, TimeUnit.SECONDS)
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("/k/1"))
                        .setRevision(revision)
                        .build());
    }

    private static ManagedChannel channel(URI url) {
        return NettyChannelBuilder.forAddress(url.getHost(), url.getPort())
                .usePlaintext()
                .build();
    }
}
