package io.understudy.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.run.OperationTimeouts;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.RunListener;
import io.understudy.cluster.run.RunListener.CatchUpRate;
import io.understudy.cluster.run.Runner;
import io.understudy.cluster.run.StepWork;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real leader that sends a snapshot to a newcomer which is let take it slowly.
 *
 * <p>Tests invariant DP21.
 */
final class GentleJoinIT {

    private static final int MEGABYTES = 48;
    private static final int SIGKILL = 9;

    /** One for the empty cluster, one for each key. */
    private static final long LAST_REVISION = MEGABYTES + 1L;

    private static final long BYTES_PER_SECOND = 8L << 20;

    /** With a log of so few entries, no member can catch up without a snapshot. */
    private static final List<String> SHORT_LOG = List.of(
            "--snapshot-count=10", EtcdBinaries.find().version().flagSince36("snapshot-catchup-entries") + "=5");

    /**
     * Starts a member that joins once the shell that limits it runs, with the process ID as its last argument: on a busy machine
     * its data would be there before. The pattern does not match itself.
     */
    private static final String AFTER_ITS_LIMITER = """
            #!/bin/sh
            case "$*" in *--initial-cluster-state=existing*)
              pid=$$
              rest=${pid#?}
              until grep -qszx "[${pid%%%%"$rest"}]$rest" /proc/[0-9]*/cmdline; do sleep 0.1; done ;;
            esac
            exec %s "$@"
            """;

    /** Until a member that joins has begun to take its data, on a machine that is busy otherwise. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private final FreePorts ports = FreePorts.take(4);
    private final List<CatchUpRate> rates = new CopyOnWriteArrayList<>();
    private final List<ManagedChannel> channels = new ArrayList<>();
    private LocalControl control;
    private List<MachineSettings> settings;
    private Machines machines;
    private EtcdConnections connections;
    private EtcdObserver observer;
    private MemberSpec first;
    private MemberSpec newcomer;

    @BeforeEach
    void begin() throws Exception {
        EtcdBinaries binaries = EtcdBinaries.find();
        Path program = Files.writeString(folder.resolve("etcd"), AFTER_ITS_LIMITER.formatted(binaries.etcd()));
        assertThat(program.toFile().setExecutable(true)).isTrue();
        settings = IntStream.range(0, 2)
                .mapToObj(i -> MachineSettings.of(
                                new MemberSpec("gentle-" + i, List.of(url(2 * i)), List.of(url(2 * i + 1))),
                                ProcessKind.LOCAL,
                                folder.resolve("gentle-" + i))
                        .withArguments(SHORT_LOG)
                        .withProgram(program)
                        .withJoinBytesPerSecond(BYTES_PER_SECOND))
                .toList();
        control = new LocalControl(new LocalProcesses(), binaries::etcd);
        machines = OwnMachines.local(settings, control, InstantSource.system());
        first = settings.get(0).member();
        newcomer = settings.get(1).member();
        machines.foundAll(List.of(first), "gentle");
        EtcdSettings etcd = EtcdSettings.of(first.clientUrls().get(0));
        connections = EtcdConnections.open(etcd);
        observer = new EtcdObserver(etcd, connections, new SimpleMeterRegistry());
        await().ignoreExceptions()
                .until(() ->
                        observer.observe(Duration.ofSeconds(2)).healthyVoters().size() == 1);
        fill();
    }

    private URI url(int port) {
        return URI.create("http://127.0.0.1:" + ports.get(port));
    }

    private void fill() {
        Random random = new Random(7);
        Channel channel = channel(first);
        byte[] value = new byte[1 << 20];
        for (int i = 0; i < MEGABYTES; i++) {
            random.nextBytes(value);
            var unused = KVGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .put(PutRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("key-" + i))
                            .setValue(ByteString.copyFrom(value))
                            .build());
        }
    }

    private Channel channel(MemberSpec member) {
        URI url = member.clientUrls().get(0);
        ManagedChannel channel = ManagedChannelBuilder.forAddress(url.getHost(), url.getPort())
                .usePlaintext()
                .build();
        channels.add(channel);
        return channel;
    }

    @AfterEach
    void end() {
        channels.forEach(ManagedChannel::shutdownNow);
        connections.close();
        settings.forEach(machine -> control.process(machine).close());
        ports.close();
    }

    @Test
    void restsWhileItTakesItsDataAndThenRunsFreely() throws Exception {
        CompletableFuture<Outcome> added = CompletableFuture.supplyAsync(this::addUninterrupted);

        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> rests() || added.isDone());
        assertThat(added).as("has it taken its data without a rest? %s", rates).isNotDone();

        assertThat(added.get(1, TimeUnit.MINUTES)).as("%s", rates).isInstanceOf(Outcome.Reached.class);
        assertThat(hash(newcomer)).isEqualTo(hash(first));
        await().untilAsserted(() -> assertThat(threads()).isEmpty());
        assertThat(rests()).isFalse();
    }

    private Outcome addUninterrupted() {
        try {
            return add();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether the kernel reports it as stopped; its rate between two pauses depends on the load of the machine. */
    private boolean rests() throws IOException {
        OptionalLong pid = control.process(settings.get(1)).pid();
        if (pid.isEmpty()) {
            return false;
        }
        String stat = Files.readString(Path.of("/proc", Long.toString(pid.getAsLong()), "stat"));
        return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
    }

    @Test
    void isStoppedAtOnceWhileItIsHeldBack() throws Exception {
        interruptOneThatAdds();

        machines.stop(newcomer);

        // Still held back, it would not end by SIGTERM, and be killed.
        assertThat(control.process(settings.get(1)).exitStatus())
                .isPresent()
                .isNotEqualTo(OptionalInt.of(128 + SIGKILL));
        assertThat(threads()).isEmpty();
    }

    @Test
    void anotherRunResumesAnInterruptedJoin() throws Exception {
        interruptOneThatAdds();

        machines.letGo(newcomer);

        assertThat(add()).isInstanceOf(Outcome.Reached.class);
        assertThat(hash(newcomer)).isEqualTo(hash(first));
    }

    private void interruptOneThatAdds() throws InterruptedException {
        Thread adding = new Thread(() -> {
            try {
                var unused = add();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        adding.start();
        await().atMost(PATIENCE).until(() -> rests());
        adding.interrupt();
        adding.join();
    }

    private Outcome add() throws InterruptedException {
        StepWork work = new StepWork(new EtcdMembership(observer, connections, new SimpleMeterRegistry()), machines);
        return new Runner(observer, work, OperationTimeouts.DEFAULT, new RunListener() {
                    @Override
                    public void begins(Planned step) {}

                    @Override
                    public void ended(Planned step, Duration took) {}

                    @Override
                    public void catchingUp(CatchUpRate rate) {
                        rates.add(rate);
                    }

                    @Override
                    public void notes(String what) {}
                })
                .run(new AddMember(newcomer, true));
    }

    private int hash(MemberSpec member) {
        return MaintenanceGrpc.newBlockingStub(channel(member))
                .withDeadlineAfter(10, TimeUnit.SECONDS)
                .hashKV(HashKVRequest.newBuilder().setRevision(LAST_REVISION).build())
                .getHash();
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("join-gentle-"))
                .toList();
    }
}
