package io.understudy.seed;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import io.understudy.mirror.takeover.PatientCalls;
import io.understudy.mirror.takeover.TakeOverException;
import io.understudy.seed.Seed.SeedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Refusals that end the creation of a directory at once. */
final class TargetSeedingTest {

    private static final URI URL = URI.create("http://127.0.0.1:1");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"3.6.16", "3.5.33"})
    void programsThatDoNotSupportTheDataAreRefused(String programs) throws Exception {
        TargetSeeding seeding = new TargetSeeding(binaries(programs), null, line -> {});
        Server source = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new MaintenanceGrpc.MaintenanceImplBase() {
                    @Override
                    public void status(StatusRequest request, StreamObserver<StatusResponse> to) {
                        to.onNext(StatusResponse.newBuilder()
                                .setHeader(ResponseHeader.newBuilder()
                                        .setClusterId(7)
                                        .setMemberId(1))
                                .setVersion("3.7.3")
                                .setLeader(1)
                                .setUnknownFields(UnknownFieldSet.newBuilder()
                                        .addField(
                                                11,
                                                UnknownFieldSet.Field.newBuilder()
                                                        .addLengthDelimited(ByteString.copyFromUtf8("3.7.0"))
                                                        .build())
                                        .build())
                                .build());
                        to.onCompleted();
                    }
                })
                .build()
                .start();
        try (EtcdCluster cluster = EtcdCluster.connect(
                EtcdSettings.of(URI.create("http://127.0.0.1:" + source.getPort())), new SimpleMeterRegistry())) {
            Seed seed = new Seed(folder.resolve("dr"), "dr-1", List.of(URL), List.of(URL), "dr", 1);
            assertThatThrownBy(() -> seeding.check(cluster, seed, Duration.ofSeconds(60)))
                    .isInstanceOf(SeedException.class)
                    .hasMessageStartingWith(
                            "the source's data have storage version 3.7.0, which etcd " + programs + ", ")
                    .hasMessageEndingWith("does not support: set UNDERSTUDY_ETCD to etcd 3.7 or later");
        } finally {
            source.shutdownNow();
        }
    }

    @Test
    void aToolThatCannotIncreaseTheRevisionIsRefused() throws Exception {
        EtcdBinaries old = binaries("3.5.9");
        assertThatThrownBy(() -> new TargetSeeding(old, null, line -> {}))
                .isInstanceOf(SeedException.class)
                .hasMessageContaining("has version 3.5.9; --bump-revision requires 3.5.10 or later");
    }

    @Test
    void aRefusalOfTheRestoredMemberIsNotRepeated() throws Exception {
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new KVGrpc.KVImplBase() {
                    @Override
                    public void range(RangeRequest request, StreamObserver<RangeResponse> to) {
                        to.onError(Status.INVALID_ARGUMENT
                                .withDescription("etcdserver: user name is empty")
                                .asRuntimeException());
                    }
                })
                .build()
                .start();
        ServerCommand running = new ServerCommand(
                "restored", Path.of("/bin/sleep"), List.of("600"), Map.of(), folder, folder.resolve("log"));
        try (ServerProcess member = new LocalProcesses().prepare(running);
                EtcdCluster cluster = EtcdCluster.connect(
                        EtcdSettings.of(URI.create("http://127.0.0.1:" + server.getPort())),
                        new SimpleMeterRegistry())) {
            member.start();
            PatientCalls calls = new PatientCalls(cluster, null, Duration.ofMinutes(1));
            assertThatThrownBy(() -> TargetSeeding.awaitServing(member, calls))
                    .isInstanceOf(TakeOverException.class)
                    .hasMessageEndingWith("etcdserver: user name is empty");
        } finally {
            server.shutdownNow();
        }
    }

    private EtcdBinaries binaries(String version) throws IOException {
        Path etcdutl = Files.writeString(folder.resolve("etcdutl"), "#!/bin/sh\necho etcdutl version: " + version);
        Files.setPosixFilePermissions(etcdutl, PosixFilePermissions.fromString("rwx------"));
        return new EtcdBinaries(
                folder.resolve("etcd"),
                folder.resolve("etcdctl"),
                etcdutl,
                ProgramVersion.in(version).orElseThrow());
    }
}
