package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.gateway.server.RawHttp2;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits up to etcd's limits, invalid requests, clients that do not read, half-closed streams and cancels by the thousand, at
 * a gateway and at one that follows it. Neither ends, their memory stays bounded, and afterwards both equal the source. A test
 * of speed limits how long other clients wait. Lasts as long as {@code -Dunderstudy.campaign}, such as {@code PT1H}.
 *
 * <p>Tests invariant S7.
 */
@Timeout(7_200)
final class CampaignIT {

    private static final Logger LOG = LoggerFactory.getLogger(CampaignIT.class);
    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final Duration LASTING =
            Duration.parse(System.getProperty("understudy.campaign", LONG ? "PT5M" : "PT30S"));
    private static final int LEASED = LONG ? 100_000 : 10_000;
    private static final int OPERATIONS = 128;
    private static final int STREAMS = 500;
    private static final long MAX_MEMORY_KIB = 1_280 << 10;
    private static final ByteString ALL = GatewayFixture.ZERO;
    private static final byte[] RANGE = RawHttp2.message(
            RangeRequest.newBuilder().setKey(ALL).setRangeEnd(ALL).build().toByteArray());
    /** From the first revision, mostly compacted, and from now on. */
    private static final List<byte[]> WATCHES = Stream.of(1, 0)
            .map(start -> RawHttp2.message(WatchRequest.newBuilder()
                    .setCreateRequest(WatchCreateRequest.newBuilder()
                            .setKey(ALL)
                            .setRangeEnd(ALL)
                            .setPrevKv(true)
                            .setStartRevision(start))
                    .build()
                    .toByteArray()))
            .toList();

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1)
            .named("source")
            .with(builder -> builder.extraArguments("--quota-backend-bytes=8000000000"));

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final List<Future<?>> running = new ArrayList<>();
    private int round;
    private volatile boolean stopped;

    /** What is repeated until the campaign ends. */
    private interface Step {
        void run(Random random) throws Exception;
    }

    @Test
    @Tag("schedules")
    @Tag("verify")
    void commitsAndClientsStopNothing(@TempDir Path folder) throws Exception {
        assertThat(longestWaits(folder)).hasSize(3);
    }

    /** A machine without a free core delays rounds of read indexes, which add up from gateway to gateway. */
    @Test
    @Tag("speed")
    void otherClientsWaitNoLongerThanAtEtcdAndASecond(@TempDir Path folder) throws Exception {
        List<AtomicLong> waits = longestWaits(folder);
        long most = waits.get(0).get() + 1_000;
        assertThat(waits).as("seed %d", seed).allMatch(millis -> millis.get() <= most);
    }

    /** Returns the most milliseconds that a client waited at etcd, at the gateway and at its child. */
    private List<AtomicLong> longestWaits(Path folder) throws Exception {
        LOG.info("seed={} lasting={}", seed, LASTING);
        URI etcd = SOURCE.cluster().clientUrls().get(0);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (FreePorts ports = FreePorts.take(2);
                ServerProcess gateway = GatewayJvm.of(folder, "parent", "512m", ports.get(0), etcd);
                ServerProcess child = GatewayJvm.of(folder, "child", "512m", ports.get(1), url(ports.get(0)))) {
            List<ServerProcess> gateways = List.of(gateway, child);
            List<ManagedChannel> channels = new ArrayList<>();
            for (int port : new int[] {etcd.getPort(), ports.get(0), ports.get(1)}) {
                channels.add(GatewayFixture.channel("127.0.0.1", port));
            }
            try {
                gateways.forEach(ServerProcess::start);
                awaitEqual(gateways, channels);
                RandomWatches writes = new RandomWatches(new Random(seed));
                Step[] attacks = {
                    random -> commit(channels.get(random.nextInt(3)), writes, random),
                    random -> invalid(ports.get(random.nextInt(2)), random),
                    random -> SoakIT.batch(ports.get(random.nextInt(2)), round++),
                    random -> unread(ports.get(random.nextInt(2)), random)
                };
                for (int i = 0; i < attacks.length; i++) {
                    repeat(threads, attacks[i], i);
                }
                List<AtomicLong> longest = new ArrayList<>();
                for (ManagedChannel channel : channels) {
                    AtomicLong millis = new AtomicLong();
                    longest.add(millis);
                    repeat(threads, random -> millis.accumulateAndGet(served(channel, random), Math::max), 10);
                }
                long end = System.nanoTime() + LASTING.toNanos();
                await().atMost(LASTING.plus(PATIENCE)).until(() -> {
                    assertThat(gateways).as("seed %d", seed).allMatch(ServerProcess::isAlive);
                    return System.nanoTime() - end > 0 || running.stream().anyMatch(Future::isDone);
                });
                stopped = true;
                for (Future<?> each : running) {
                    each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                }
                awaitEqual(gateways, channels);
                LOG.info("seed={} longest wait at etcd, gateway and child: {} ms", seed, longest);
                for (ServerProcess each : gateways) {
                    long memory = memoryKiB(each);
                    LOG.info("seed={} {} used at most {} MiB", seed, each.name(), memory >> 10);
                    assertThat(memory).as("seed %d: %s", seed, each.name()).isLessThan(MAX_MEMORY_KIB);
                }
                return longest;
            } finally {
                stopped = true;
                channels.forEach(ManagedChannel::shutdownNow);
                threads.shutdownNow();
            }
        }
    }

    private void repeat(ExecutorService threads, Step step, int number) {
        Random random = new Random(seed + number);
        running.add(threads.submit(() -> {
            while (!stopped) {
                try {
                    step.run(random);
                } catch (IOException | StatusRuntimeException e) {
                    // Servers may reject, and end connections.
                    LOG.atDebug().setCause(e).log("rejected");
                }
            }
            return null;
        }));
    }

    /** Makes a commit of one kind, as large as etcd allows. */
    private static void commit(ManagedChannel server, RandomWatches writes, Random random) {
        KVGrpc.KVBlockingStub kv = GatewayFixture.kv(server);
        switch (random.nextInt(10)) {
            case 0 -> kv.put(put("x/" + "k".repeat(1 << 20), 0, 0).getRequestPut());
            case 1 -> kv.put(put("x/" + random.nextInt(8), (3 << 19) - 100, 0).getRequestPut());
            case 2 -> kv.txn(puts(0, OPERATIONS, 11 << 10, 0));
            case 3 -> {
                TxnRequest nested = puts(0, 1, 1, 0);
                for (int depth = 1; depth < 40; depth++) {
                    nested = puts(depth, 1, 1, 0).toBuilder()
                            .addSuccess(RequestOp.newBuilder().setRequestTxn(nested))
                            .build();
                }
                kv.txn(nested);
            }
            case 4 -> {
                LeaseGrpc.LeaseBlockingStub leases =
                        LeaseGrpc.newBlockingStub(server).withDeadlineAfter(1, TimeUnit.MINUTES);
                long lease = leases.leaseGrant(
                                LeaseGrantRequest.newBuilder().setTTL(60).build())
                        .getID();
                for (int i = 0; i < LEASED; i += OPERATIONS) {
                    kv.txn(puts(i, OPERATIONS, 1, lease));
                }
                leases.leaseRevoke(LeaseRevokeRequest.newBuilder().setID(lease).build());
            }
            case 5 ->
                kv.deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(ALL)
                        .setRangeEnd(ALL)
                        .build());
            case 6 -> {
                long now = kv.range(RangeRequest.newBuilder().setKey(ALL).build())
                        .getHeader()
                        .getRevision();
                kv.compact(CompactionRequest.newBuilder().setRevision(now).build());
            }
            default -> {
                for (int i = 0; i < 50; i++) {
                    writes.write(server);
                }
            }
        }
    }

    private static TxnRequest puts(int from, int count, int bytes, long lease) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        for (int i = from; i < from + count; i++) {
            txn.addSuccess(put("x/" + i, bytes, lease));
        }
        return txn.build();
    }

    private static RequestOp put(String key, int bytes, long lease) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setValue(ByteString.copyFrom(new byte[bytes]))
                        .setLease(lease))
                .build();
    }

    /** Sends an invalid request of HTTP/1.1, and frames of HTTP/2 in any order. */
    private static void invalid(int port, Random random) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream()
                    .write(HttpHeads.generate(random, 1).get(0).text().getBytes(StandardCharsets.ISO_8859_1));
            socket.getInputStream().readNBytes(random.nextInt(2));
        }
        try (RawHttp2 client = new RawHttp2(port, PATIENCE)) {
            for (int i = 0; i < 20; i++) {
                byte[] payload = new byte[random.nextInt(100)];
                random.nextBytes(payload);
                client.frame(random.nextInt(12), random.nextInt(256), random.nextInt(9), payload);
            }
            client.flush();
        }
    }

    /** Opens reads and watches of everything on one connection, reads little, and cancels all. */
    private static void unread(int port, Random random) throws IOException {
        try (RawHttp2 client = new RawHttp2(port, PATIENCE)) {
            for (int i = 0; i < STREAMS; i++) {
                boolean watch = random.nextInt(20) > 0;
                client.call(
                        1 + 2 * i, watch ? "/etcdserverpb.Watch/Watch" : "/etcdserverpb.KV/Range", false, List.of());
                client.frame(
                        RawHttp2.DATA, watch ? 0 : RawHttp2.END_STREAM, 1 + 2 * i, watch ? WATCHES.get(i % 2) : RANGE);
            }
            client.flush();
            LockSupport.parkNanos(random.nextLong(3_000_000_000L));
            for (int i = 0; i < STREAMS && random.nextInt(STREAMS) > 0; i++) {
                client.frame(RawHttp2.RST_STREAM, 0, 1 + 2 * i, RawHttp2.bytes(8));
            }
            client.flush();
            client.next(RawHttp2.DATA);
        }
    }

    /** Returns the milliseconds until a read or a write succeeded. */
    private long served(ManagedChannel server, Random random) {
        ByteString key = ByteString.copyFromUtf8("calm");
        int kind = random.nextInt(3);
        long began = System.nanoTime();
        boolean done = false;
        @Nullable StatusRuntimeException last = null;
        while (!done && !stopped) {
            try {
                KVGrpc.KVBlockingStub kv = GatewayFixture.kv(server);
                done = kind == 0
                        ? kv.put(PutRequest.newBuilder().setKey(key).build()).hasHeader()
                        : kv.range(RangeRequest.newBuilder()
                                        .setKey(key)
                                        .setSerializable(kind == 1)
                                        .build())
                                .hasHeader();
            } catch (StatusRuntimeException e) {
                last = e;
                LockSupport.parkNanos(1_000_000);
            }
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        if (millis > 1_000) {
            LOG.info("seed={} call {} at {} waited {} ms, last failure {}", seed, kind, server, millis, last);
        }
        return millis;
    }

    private void awaitEqual(List<ServerProcess> gateways, List<ManagedChannel> channels) {
        await().atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
                .untilAsserted(() -> {
                    assertThat(gateways).as("seed %d", seed).allMatch(ServerProcess::isAlive);
                    List<List<KeyValue>> contents = new ArrayList<>();
                    for (ManagedChannel each : channels) {
                        contents.add(GatewayFixture.kv(each)
                                .range(GatewayFixture.everythingRequest())
                                .getKvsList());
                    }
                    assertThat(contents.stream().allMatch(contents.get(0)::equals))
                            .as("seed %d: gateways equal the source", seed)
                            .isTrue();
                });
    }

    /** The most that a process ever occupied. */
    private static long memoryKiB(ServerProcess process) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + process.pid().orElseThrow() + "/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }

    private static URI url(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }
}
