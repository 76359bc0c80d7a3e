package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.LocalControl;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.OwnMachines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.snapshot.SnapshotDirectory;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Voters founded, lost and recovered through machines.
 *
 * <p>Tests invariants DP9, DP10, DP14, DP30.
 */
@Tag("schedules")
final class RecoveryIT {

    private static final int ROUNDS = Integer.getInteger("understudy.rounds", 30);

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration ELECTION = Duration.ofSeconds(4);

    @TempDir
    private Path folder;

    private final EtcdBinaries binaries = EtcdBinaries.find();
    private final LocalControl control = new LocalControl(new LocalProcesses(), binaries::etcd);
    private final FreePorts ports = FreePorts.take(10);
    private final List<String> printed = new CopyOnWriteArrayList<>();
    private Duration lostFor = Duration.ZERO;
    private List<MachineSettings> machines;
    private OwnMachines here;
    private EtcdConnections connections;
    private Survey survey;

    /** @param learners machines after those of the voters, of members that do not run yet */
    private void found(int voters, int learners) {
        machines = IntStream.range(0, voters + learners)
                .mapToObj(index -> MachineSettings.of(
                                new MemberSpec("m" + (index + 1), List.of(peer(index)), List.of(client(index))),
                                ProcessKind.LOCAL,
                                folder.resolve("m" + (index + 1)))
                        .withArguments(List.of("--unsafe-no-fsync=true")))
                .toList();
        here = OwnMachines.local(machines, control, InstantSource.system());
        EtcdSettings settings = EtcdSettings.of(
                IntStream.range(0, voters).mapToObj(this::client).toArray(URI[]::new));
        connections = EtcdConnections.open(settings);
        survey = new Survey(
                new EtcdObserver(settings, connections, new SimpleMeterRegistry()), here, machines, connections, LOOK);
        here.foundAll(
                machines.stream().limit(voters).map(MachineSettings::member).toList(), "core");
        awaitHealthy(voters);
    }

    private void awaitHealthy(int voters) {
        await().atMost(PATIENCE).until(() -> survey.look()
                .filter(facts -> facts.healthyVoters().size() == voters)
                .isPresent());
    }

    private void awaitLearner() {
        await().atMost(PATIENCE)
                .ignoreExceptionsMatching(CommandFailedException.class::isInstance)
                .until(() -> etcdctl(0, "member", "add", "m4", "--learner", "--peer-urls=" + peer(3))
                        .contains("added"));
        here.join(
                machines.get(3).member(),
                MemberSpec.initialCluster(
                        machines.stream().map(MachineSettings::member).toList()));
        here.letGo(machines.get(3).member());
        await().atMost(PATIENCE)
                .ignoreExceptionsMatching(CommandFailedException.class::isInstance)
                .until(() -> etcdctl(3, "get", "before", "--consistency=s").contains("acknowledged"));
    }

    @AfterEach
    void end() {
        machines.forEach(machine -> control.process(machine).kill());
        connections.close();
    }

    @AfterEach
    void free() {
        ports.close();
    }

    /** The put is in the survivor's log, and no record there marks it as committed. */
    @Test
    @Tag("verify")
    void acknowledgedWritesThatTheSurvivorOnlyHasInItsLogAreKept() throws IOException {
        found(3, 0);
        List<String> ids = ids();
        int leader = leader();
        int survivor = (leader + 1) % 3;
        control.process(machines.get((leader + 2) % 3)).kill();
        for (int key = 0; key < 10; key++) {
            put("key-" + key, "acknowledged", leader);
        }
        control.process(machines.get(survivor)).kill();
        control.process(machines.get(leader)).kill();
        wipe(leader);
        wipe((leader + 2) % 3);
        Stored stored = Stored.read(machines.get(survivor).dataDirectory());

        assertThat(recovery(step -> false).run(Set.of())).isFalse();
        assertThat(here.isRunning(machines.get(survivor).member())).contains(false);
        assertThat(folder).isDirectoryNotContaining("glob:**/*.copy-*");

        assertThat(recovery(step -> true).run(Set.of())).isTrue();

        for (int key = 0; key < 10; key++) {
            assertThat(etcdctl(leader, "get", "key-" + key)).contains("acknowledged");
        }
        awaitHealthy(3);
        assertThat(ids()).isEqualTo(ids);
        // The database may have applied an entry that the log does not mark as committed yet.
        stored.log().tail().stream()
                .filter(entry -> entry.at().index() > stored.committed())
                .map(LogEntry::description)
                .filter(description -> description.startsWith("put key-"))
                .forEach(description -> assertThat(printed).anyMatch(line -> line.endsWith(description)));
        assertThat(printed).anyMatch(line -> line.startsWith("verified: revision "));
        assertThat(folder).isDirectoryContaining("glob:**/m" + (survivor + 1) + ".copy-*");
        assertThat(recovery(step -> true).run(Set.of())).isTrue();
        assertThat(printed).anyMatch(line -> line.contains("nothing more to recover"));
    }

    /** Such as a unit of systemd that an operator installed: the recovery could not stop it. */
    @Test
    void aSurvivorThatAnotherProcessControlRunsIsLeftAlone() {
        found(3, 0);
        List.of(1, 2).forEach(this::wipe);
        awaitLost();
        OwnMachines others = OwnMachines.local(
                machines, new LocalControl(new LocalProcesses(), binaries::etcd), InstantSource.system());
        survey = new Survey(survey.observer(), others, machines, connections, LOOK);

        assertThatThrownBy(() -> recovery(step -> true).run(Set.of()))
                .isInstanceOf(RecoveryException.class)
                .hasMessageContaining("a process uses " + machines.get(0).dataDirectory() + ", of member ")
                .hasMessageContaining("stop it, or correct dataDirectory and process of machines.m1");

        assertThat(here.isRunning(machines.get(0).member())).contains(true);
        assertThat(folder).isDirectoryNotContaining("glob:**/*.copy-*");
    }

    /** A process that is killed between two steps leaves what the steps before it did. */
    @Test
    void aRecoveryThatIsKilledAfterEachStepIsCompletedByTheNext() {
        found(3, 0);
        put("before", "acknowledged", 0);
        await().until(() -> etcdctl(0, "get", "before", "--consistency=s").contains("acknowledged"));
        List.of(1, 2).forEach(this::wipe);
        awaitLost();
        assertThat(killedAfterEachStep(Set.of())).isGreaterThan(5);
        assertThat(new DataDirectory(machines.get(0).dataDirectory()).earlier()).hasSize(1);
        assertThat(etcdctl(1, "get", "before")).contains("acknowledged");
        awaitHealthy(3);
    }

    /** The member given up is removed by one of the runs. */
    @Test
    void aRecoveryFromNamedMembersThatIsKilledAfterEachStepIsCompletedByTheNext() throws IOException {
        found(3, 0);
        put("before", "acknowledged", 0);
        await().until(() -> etcdctl(0, "get", "before", "--consistency=s").contains("acknowledged"));
        wipe(1);
        Path unmounted = unmount(2);
        awaitLost();

        assertThat(killedAfterEachStep(Set.of("m1"))).isGreaterThan(5);

        assertThat(survey.look().orElseThrow().members())
                .extracting(MemberFacts::name)
                .containsExactlyInAnyOrder("m1", "m2");
        mount(unmounted, 2);
        assertThat(recovery(step -> true).run(Set.of("m1"))).isTrue();
        assertThat(here.isRunning(machines.get(2).member())).contains(false);
        assertThat(etcdctl(1, "get", "before")).contains("acknowledged");
    }

    @Test
    void aRestoreFromALearnerThatIsKilledAfterEachStepIsCompletedByTheNext() throws IOException {
        Set<String> uninterrupted = endOfRestore(new AtomicInteger(Integer.MAX_VALUE));
        assertThat(uninterrupted).contains("m1", "m2", "m3", "m4.old");
        int step = -1;
        AtomicInteger left;
        do {
            left = new AtomicInteger(++step);
            assertThat(endOfRestore(left)).as("killed at step %d", step).isEqualTo(uninterrupted);
        } while (left.get() < 0);
        assertThat(step).isGreaterThan(12);
    }

    /**
     * Returns the directories after a restore and, if it was killed, another run of the same command. Data of an
     * incomplete attempt is left out.
     *
     * @param left steps with effects until it is killed
     */
    private Set<String> endOfRestore(AtomicInteger left) throws IOException {
        found(3, 1);
        put("before", "acknowledged", 0);
        awaitLearner();
        List.of(0, 1, 2).forEach(this::wipe);
        printed.clear();
        Survey own = survey;
        AtomicBoolean isBegun = new AtomicBoolean();
        Runnable step = () -> {
            if (isBegun.get() && left.getAndDecrement() <= 0) {
                dies();
            }
        };
        survey = new Survey(own.observer(), orders(step), machines, connections, LOOK);
        try {
            assertThat(recovery(
                                    question -> {
                                        step.run();
                                        isBegun.set(true);
                                        return true;
                                    },
                                    line -> step.run())
                            .run(Set.of()))
                    .isTrue();
        } catch (IllegalStateException e) {
            assertThat(e).hasMessage("killed");
            survey = own;
            assertThat(recovery(question -> true).run(Set.of())).isTrue();
        }

        assertThat(printed).contains("next: understudy cluster add m4 --promote never");
        assertThat(etcdctl(1, "get", "before")).contains("acknowledged");
        awaitHealthy(3);
        assertThat(here.isRunning(machines.get(3).member())).contains(false);
        end();
        try (Stream<Path> all = Files.list(folder)) {
            List<Path> directories = all.filter(Files::isDirectory).toList();
            directories.forEach(Folders::delete);
            return directories.stream()
                    .map(path -> path.getFileName().toString().replaceFirst("-.*", ""))
                    .filter(name -> !name.matches("m[123]\\.old"))
                    .collect(Collectors.toSet());
        }
    }

    /** The machines, with an action before each order to them. */
    private Machines orders(Runnable before) {
        return (Machines) Proxy.newProxyInstance(
                Machines.class.getClassLoader(), new Class<?>[] {Machines.class}, (proxy, method, arguments) -> {
                    if (method.getReturnType() == void.class) {
                        before.run();
                    }
                    try {
                        return method.invoke(here, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Returns the number of runs; each is killed one step later than the one before. */
    private int killedAfterEachStep(Set<String> from) {
        int killed = 0;
        for (boolean isDone = false; !isDone; killed++) {
            AtomicInteger left = new AtomicInteger(killed);
            try {
                isDone = recovery(step -> left.getAndDecrement() > 0 || dies(), line -> {
                            if (left.getAndDecrement() <= 0) {
                                dies();
                            }
                        })
                        .run(from);
            } catch (RecoveryException e) {
                // The members that the run before started were about to elect a leader.
                assertThat(e)
                        .hasMessageStartingWith("the state has changed before the confirmation: there is a quorum");
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("killed");
            }
        }
        return killed;
    }

    private static boolean dies() {
        throw new IllegalStateException("killed");
    }

    @Test
    void startsThoseThatHaveTheirDataFirst() {
        found(3, 0);
        lostFor = PATIENCE;
        put("before", "acknowledged", 0);
        List.of(1, 2).forEach(index -> control.process(machines.get(index)).kill());
        awaitLost();

        assertThat(recovery(step -> step.startsWith("start m2, m3 with their existing data"))
                        .run(Set.of()))
                .isTrue();

        assertThat(printed).contains("quorum restored without data loss");
        assertThat(etcdctl(2, "get", "before")).contains("acknowledged");
        awaitHealthy(3);
    }

    @Test
    void ofTwoSurvivorsTheMoreCompleteOneLeads() {
        found(5, 0);
        put("before", "of both", 0);
        await().until(() -> etcdctl(0, "get", "before", "--consistency=s").contains("of both"));
        control.process(machines.get(0)).kill();
        put("after", "of the second only", 1);
        await().until(() -> etcdctl(1, "get", "after", "--consistency=s").contains("second"));
        List.of(2, 3, 4).forEach(this::wipe);
        control.process(machines.get(1)).kill();

        assertThat(recovery(step -> true).run(Set.of())).isTrue();

        assertThat(printed).anyMatch(line -> line.contains("the most complete log is that of m2"));
        assertThat(etcdctl(4, "get", "after")).contains("second");
        awaitHealthy(5);
    }

    @Test
    void aLostMemberJoinsAgainOnlyIfTheOperatorConfirms() {
        found(3, 0);
        lostFor = PATIENCE;
        wipe(2);
        here.stop(machines.get(1).member());
        awaitLost();
        List<Boolean> outcome = new CopyOnWriteArrayList<>();
        Thread recovering = new Thread(() -> outcome.add(
                recovery(step -> !step.startsWith("start m3 without data")).run(Set.of())));
        recovering.start();

        await().atMost(PATIENCE).until(() -> outcome.contains(true));
        assertThat(printed).noneMatch(line -> line.startsWith("recovering from"));
        assertThat(folder).isDirectoryNotContaining("glob:**/*.copy-*");
    }

    @Test
    @Tag("verify")
    void aMemberWithDataOfAnotherClusterIsNotStarted() throws IOException {
        found(3, 1);
        MemberSpec other = machines.get(3).member();
        here.found(other, MemberSpec.initialCluster(List.of(other)), "other");
        // Not only its owner: an empty log counts as no data.
        put("foreign", "acknowledged", 3);
        here.stop(other);
        wipe(2);
        Files.move(machines.get(3).dataDirectory(), machines.get(2).dataDirectory());

        assertThat(recovery(step -> true).run(Set.of())).isTrue();

        assertThat(here.isRunning(machines.get(2).member())).contains(false);
        assertThat(printed)
                .anyMatch(line -> line.startsWith("m3 has data of another cluster or member and is left alone"));
    }

    /** Its disk was not mounted during the recovery. */
    @Test
    void aMemberGivenUpDoesNotReturnWithItsOldData() throws IOException {
        found(3, 0);
        put("before", "acknowledged", 0);
        wipe(1);
        Path unmounted = unmount(2);

        assertThat(recovery(step -> true).run(Set.of("m1"))).isTrue();

        assertThat(printed)
                .contains("stopped m3; its data is not accessible from this machine")
                .noneMatch(line -> line.contains("m3 and set its data aside"));
        assertThat(survey.look().orElseThrow().members())
                .extracting(MemberFacts::name)
                .containsExactlyInAnyOrder("m1", "m2");
        mount(unmounted, 2);
        assertThat(recovery(step -> true).run(Set.of("m1"))).isTrue();
        assertThat(here.isRunning(machines.get(2).member())).contains(false);
        here.start(machines.get(2).member());
        await().atMost(PATIENCE).until(() -> here.endOfLog(machines.get(2).member()).stream()
                .anyMatch(line -> line.contains("the member has been permanently removed from the cluster")));
        assertThat(etcdctl(1, "get", "before")).contains("acknowledged");
        awaitHealthy(2);
    }

    /** Its disk is mounted, and it starts, before the operator confirms. */
    @Test
    void aMemberThatReturnsBeforeTheConfirmationIsNotGivenUp() throws IOException {
        found(3, 0);
        put("before", "acknowledged", 0);
        wipe(1);
        Path unmounted = unmount(2);

        assertThatThrownBy(() -> recovery(step -> {
                            if (step.startsWith("continue without the data of")) {
                                mount(unmounted, 2);
                                here.start(machines.get(2).member());
                                awaitHealthy(2);
                                put("meanwhile", "acknowledged", 2);
                            }
                            return true;
                        })
                        .run(Set.of("m1")))
                .isInstanceOf(RecoveryException.class)
                .hasMessageStartingWith("the state has changed before the confirmation: there is a quorum; ");

        assertThat(folder).isDirectoryNotContaining("glob:**/*.old-*");
        assertThat(etcdctl(2, "get", "meanwhile")).contains("acknowledged");
        assertThat(recovery(step -> true).run(Set.of("m1"))).isTrue();
        awaitHealthy(3);
    }

    @Test
    void aLostMemberDoesNotJoinAgainDuringAnAlarm() throws Exception {
        found(3, 0);
        put("before", "acknowledged", 0);
        AlarmRequest alarm = AlarmRequest.newBuilder()
                .setAction(AlarmRequest.AlarmAction.ACTIVATE)
                .setAlarm(AlarmType.NOSPACE)
                .setMemberID(1)
                .build();
        connections
                .call(Endpoint.of(client(0)), MaintenanceGrpc.getAlarmMethod(), alarm, PATIENCE)
                .get();
        wipe(2);

        assertThat(recovery(step -> true).run(Set.of())).isTrue();

        assertThat(printed).anyMatch(line -> line.startsWith("m3 is not started, as an alarm is active"));
        assertThat(here.isRunning(machines.get(2).member())).contains(false);
    }

    @Test
    @Tag("verify")
    void aLearnerKeepsRunningUntilTheNewClusterServesItsData() {
        found(3, 1);
        put("before", "acknowledged", 0);
        awaitLearner();
        put("last", "acknowledged", 0);
        await().until(() -> etcdctl(3, "get", "last", "--consistency=s").contains("acknowledged"));
        List.of(0, 1, 2).forEach(this::wipe);

        assertThatThrownBy(() -> recovery(step -> true, line -> {
                            if (line.startsWith("a new cluster serves")) {
                                dies();
                            }
                        })
                        .run(Set.of()))
                .hasMessage("killed");

        assertThat(here.isRunning(machines.get(3).member())).contains(true);
        assertThat(etcdctl(0, "get", "last")).contains("acknowledged");
        awaitHealthy(3);
        assertThat(folder).isDirectoryNotContaining("glob:**/m4.old-*");
        assertThat(folder).isDirectoryContaining("glob:**/m4.recovery");

        assertThat(recovery(step -> true).run(Set.of())).isTrue();

        assertThat(here.isRunning(machines.get(3).member())).contains(false);
        assertThat(folder).isDirectoryContaining("glob:**/m4.old-*");
        assertThat(folder).isDirectoryNotContaining("glob:**/m4.recovery");
    }

    /** Its database lacks what it had in memory. */
    @Test
    void theLogOfAKilledLearnerIsAppliedToo() throws IOException {
        found(3, 1);
        put("before", "acknowledged", 0);
        awaitLearner();
        for (int key = 0; key < 20; key++) {
            put("key-" + key, "acknowledged", 0);
        }
        await().until(() -> etcdctl(3, "get", "key-19", "--consistency=s").contains("acknowledged"));
        control.process(machines.get(3)).kill();
        List.of(0, 1, 2).forEach(this::wipe);
        Stored stored = Stored.read(machines.get(3).dataDirectory());

        assertThat(recovery(step -> true).run(Set.of())).isTrue();

        for (int key = 0; key < 20; key++) {
            assertThat(etcdctl(0, "get", "key-" + key)).contains("acknowledged");
        }
        if (stored.database().applied() < stored.log().last().index()) {
            assertThat(printed).anyMatch(line -> line.contains("more entries, which are applied to a copy"));
        }
        assertThat(folder.resolve("m4.recovery")).doesNotExist();
        assertThat(survey.kept())
                .contains(new DataDirectory(folder.resolve("m4")).earlier().get(0));
        awaitHealthy(3);
    }

    /** Compared with what etcd's own package reads from the survivor's disk. */
    @Test
    void noAcknowledgedWriteThatTheLastDiskHoldsIsLost() throws Exception {
        assumeTrue(isGoHere(), "go is in PATH");
        EtcdLogDump dump = EtcdLogDump.build(binaries.version(), Files.createDirectory(folder.resolve("go")));
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        System.out.println("understudy.seed=" + seed);
        Random random = new Random(seed);
        found(3, 0);
        int uncommitted = 0;
        for (int round = 0; round < ROUNDS; round++) {
            int leader = leader();
            int survivor = (leader + 1 + random.nextInt(2)) % 3;
            int other = 3 - leader - survivor;
            int writes = 100 + random.nextInt(400);
            System.out.println("round " + round + ": m" + (survivor + 1) + " survives " + writes + " writes");
            if (round % 3 > 0) {
                // Each acknowledged write is in the survivor's log.
                control.process(machines.get(other)).kill();
            }
            Set<String> acknowledged = ConcurrentHashMap.newKeySet();
            try (Writers writers = new Writers(round, leader, acknowledged)) {
                await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> acknowledged.size() > writes);
                List.of(survivor, leader, other)
                        .forEach(index -> control.process(machines.get(index)).kill());
                writers.end();
            }
            wipe(leader);
            wipe(other);
            Path disk = machines.get(survivor).dataDirectory();
            List<String> entries = dump.entries(disk);
            Stored stored = Stored.read(disk);
            uncommitted += stored.log().tail().isEmpty() ? 0 : 1;

            assertThat(recovery(step -> true).run(Set.of())).isTrue();

            Set<String> kept = Set.copyOf(etcdctl(survivor, "get", "round-" + round + "-", "--prefix", "--keys-only")
                    .lines()
                    .toList());
            assertThat(acknowledged)
                    .filteredOn(key -> entries.stream().anyMatch(entry -> entry.contains(key)))
                    .hasSizeGreaterThan(50)
                    .allSatisfy(key -> assertThat(kept).contains(key));
            if (round % 3 > 0) {
                assertThat(kept).containsAll(acknowledged);
            }
            awaitHealthy(3);
        }
        assertThat(uncommitted).isGreaterThanOrEqualTo(ROUNDS / 3);
    }

    private static boolean isGoHere() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .anyMatch(each -> !each.isEmpty() && Files.isExecutable(Path.of(each, "go")));
    }

    /** Puts keys of one length at the leader, several at a time, until it fails. */
    private final class Writers implements AutoCloseable {

        private static final int PARALLEL = 8;

        private final ExecutorService threads = Executors.newFixedThreadPool(PARALLEL);

        Writers(int round, int leader, Set<String> acknowledged) {
            AtomicInteger next = new AtomicInteger();
            for (int thread = 0; thread < PARALLEL; thread++) {
                threads.execute(() -> {
                    while (put(leader, "round-%d-%06d".formatted(round, next.incrementAndGet()), acknowledged)) {
                        Thread.onSpinWait();
                    }
                });
            }
        }

        private boolean put(int leader, String key, Set<String> acknowledged) {
            ByteString bytes = ByteString.copyFromUtf8(key);
            try {
                PutResponse response = connections
                        .call(
                                Endpoint.of(client(leader)),
                                KVGrpc.getPutMethod(),
                                PutRequest.newBuilder()
                                        .setKey(bytes)
                                        .setValue(bytes)
                                        .build(),
                                PATIENCE)
                        .get();
                acknowledged.add(key);
                return response.hasHeader();
            } catch (ExecutionException e) {
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        void end() throws InterruptedException {
            threads.shutdown();
            assertThat(threads.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }

    @Test
    void withoutAnyMemberTheNewestSnapshotIsNamed() {
        found(1, 0);
        wipe(0);
        assertThatThrownBy(() -> recovery(step -> true).run(Set.of()))
                .hasMessageContaining("understudy cluster restore --snapshot FILE. If a mirror");
    }

    private interface Answer {
        boolean to(String step);
    }

    private Recovery recovery(Answer answer) {
        return recovery(answer, line -> {});
    }

    private Recovery recovery(Answer answer, Consumer<String> heard) {
        Operator operator = new Operator() {
            @Override
            public void print(String line) {
                printed.add(line);
                heard.accept(line);
            }

            @Override
            public boolean confirms(String step) {
                return answer.to(step);
            }
        };
        LearnerRestore learners = new LearnerRestore(
                survey,
                operator,
                () -> SnapshotTool.of(binaries),
                binaries::etcd,
                Optional.<SnapshotDirectory>empty(),
                new Shape(machines.size() < 3 ? 1 : 3, 1, Set.of(), false, 1),
                PATIENCE);
        return new Recovery(survey, operator, learners, PATIENCE, lostFor, ELECTION);
    }

    private void wipe(int index) {
        control.process(machines.get(index)).kill();
        Folders.delete(machines.get(index).dataDirectory());
    }

    private Path unmount(int index) throws IOException {
        control.process(machines.get(index)).kill();
        Path data = machines.get(index).dataDirectory();
        Path unmounted = Files.move(data, folder.resolve("disk"));
        Files.createDirectory(data);
        return unmounted;
    }

    private void mount(Path unmounted, int index) {
        Folders.delete(machines.get(index).dataDirectory());
        try {
            Files.move(unmounted, machines.get(index).dataDirectory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitLost() {
        await().atMost(PATIENCE)
                .until(() ->
                        survey.look().filter(facts -> !facts.quorum().isHeld()).isPresent());
    }

    private int leader() {
        return await().atMost(PATIENCE)
                .until(() -> survey.look().flatMap(ClusterFacts::leader), Optional::isPresent)
                .map(leader -> Integer.parseInt(leader.name().substring(1)) - 1)
                .orElseThrow();
    }

    private List<String> ids() {
        return survey.look().orElseThrow().members().stream()
                .map(MemberFacts::id)
                .map(Object::toString)
                .sorted()
                .toList();
    }

    private void put(String key, String value, int index) {
        await().atMost(PATIENCE)
                .ignoreExceptionsMatching(CommandFailedException.class::isInstance)
                .until(() -> etcdctl(index, "put", key, value).contains("OK"));
    }

    private String etcdctl(int index, String... arguments) {
        List<String> line = new ArrayList<>(List.of(binaries.etcdctl().toString(), "--endpoints=" + client(index)));
        line.addAll(List.of(arguments));
        return Command.of(line).run(Duration.ofSeconds(20));
    }

    private URI peer(int index) {
        return URI.create("http://127.0.0.1:" + ports.get(2 * index));
    }

    private URI client(int index) {
        return URI.create("http://127.0.0.1:" + ports.get(2 * index + 1));
    }
}
