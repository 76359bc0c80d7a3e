package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.LocalControl;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.OwnMachines;
import io.understudy.cluster.machine.ProcessKind;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Voters founded, lost and recovered through machines.
 *
 * <p>Tests invariants DP9, DP10.
 */
@Tag("schedules")
final class RecoveryIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration ELECTION = Duration.ofSeconds(4);

    @TempDir
    private Path folder;

    private final EtcdBinaries binaries = EtcdBinaries.find();
    private final LocalControl control = new LocalControl(new LocalProcesses(), binaries::etcd);
    private final FreePorts ports = FreePorts.take(10);
    private final List<String> told = new CopyOnWriteArrayList<>();
    private Duration lostFor = Duration.ZERO;
    private List<MachineSettings> machines;
    private OwnMachines here;
    private EtcdConnections connections;
    private Survey survey;

    private void found(int voters) {
        machines = IntStream.range(0, voters)
                .mapToObj(index -> MachineSettings.of(
                        new MemberSpec(
                                "voter-" + (index + 1),
                                List.of(URI.create("http://127.0.0.1:" + ports.get(2 * index))),
                                List.of(client(index))),
                        ProcessKind.LOCAL,
                        folder.resolve("voter-" + (index + 1))))
                .toList();
        here = OwnMachines.local(machines, control, InstantSource.system());
        EtcdSettings settings = EtcdSettings.of(
                IntStream.range(0, voters).mapToObj(this::client).toArray(URI[]::new));
        connections = EtcdConnections.open(settings);
        survey = new Survey(
                new EtcdObserver(settings, connections, new SimpleMeterRegistry()),
                here,
                machines,
                SnapshotTool.of(binaries),
                LOOK);
        String all = machines.stream()
                .map(machine ->
                        machine.name() + "=" + machine.member().peerUrls().get(0))
                .collect(Collectors.joining(","));
        machines.forEach(machine -> here.found(machine.member(), all, "core"));
        await().atMost(PATIENCE).until(() -> survey.look()
                .filter(facts -> facts.healthyVoters().size() == voters)
                .isPresent());
    }

    @AfterEach
    void end() {
        machines.forEach(machine -> control.process(machine).kill());
        connections.close();
        ports.close();
    }

    @Test
    @Tag("verify")
    void afterTwoOfThreeWereWipedTheSurvivorGoesOnWithAllItHadOnceTheOperatorWants() {
        found(3);
        put("before", "acknowledged");
        await().until(() -> etcdctl(0, "get", "before", "--consistency=s").contains("acknowledged"));
        wipe(1);
        wipe(2);
        awaitLost();

        assertThat(recovery(step -> false).run(Optional.empty())).isFalse();
        assertThat(here.isRunning(machines.get(0).member())).contains(true);
        assertThat(folder).isDirectoryNotContaining("glob:**/voter-1.copy-*");

        assertThat(recovery(step -> true).run(Optional.empty())).isTrue();

        assertThat(etcdctl(0, "get", "before")).contains("acknowledged");
        put("after", "written");
        assertThat(survey.look().orElseThrow().members())
                .extracting(MemberFacts::name)
                .containsExactly("voter-1");
        assertThat(told).anyMatch(line -> line.startsWith("selected voter-1, which responds"));
        assertThat(folder).isDirectoryContaining("glob:**/voter-1.copy-*");
        assertThat(control.process(machines.get(0)).log().tail(200)).isNotEmpty();
        assertThat(recovery(step -> true).run(Optional.empty())).isTrue();
    }

    @Test
    void goesOnFromWhereItWasInterrupted() {
        found(3);
        put("before", "acknowledged");
        await().until(() -> etcdctl(0, "get", "before", "--consistency=s").contains("acknowledged"));
        wipe(1);
        here.stop(machines.get(2).member());
        Folders.delete(machines.get(2).dataDirectory());
        here.stop(machines.get(0).member());
        here.copyData(machines.get(0).member());

        assertThatThrownBy(() -> recovery(RecoveryIT::diesAfterThat).run(Optional.empty()))
                .hasMessage("killed");
        assertThat(recovery(step -> true).run(Optional.of("voter-1"))).isTrue();

        assertThat(etcdctl(0, "get", "before")).contains("acknowledged");
    }

    private static boolean diesAfterThat(String step) {
        if (step.startsWith("recover from")) {
            throw new IllegalStateException("killed");
        }
        return true;
    }

    @Test
    void startsThoseThatHaveTheirDataFirst() {
        found(3);
        put("before", "acknowledged");
        here.stop(machines.get(1).member());
        here.stop(machines.get(2).member());
        awaitLost();

        assertThat(recovery(step -> step.startsWith("start ")).run(Optional.empty()))
                .isTrue();

        assertThat(told).anyMatch(line -> line.startsWith("quorum restored"));
        assertThat(etcdctl(2, "get", "before")).contains("acknowledged");
        assertThat(survey.look().orElseThrow().voters()).hasSize(3);
    }

    /** Members that were started without a quorum neither answer nor let their data be read. */
    @Test
    void ofThoseThatAreAllDownTheOneWithTheMostRecentDataIsChosen() {
        found(5);
        put("before", "known to both");
        await().until(() -> etcdctl(0, "get", "before", "--consistency=s").contains("known"));
        here.stop(machines.get(0).member());
        put("after", "known to the second only", 1);
        await().until(() -> etcdctl(1, "get", "after", "--consistency=s").contains("known"));
        List.of(2, 3, 4).forEach(this::wipe);
        here.stop(machines.get(1).member());

        assertThat(recovery(step -> true).run(Optional.empty())).isTrue();

        assertThat(told).anyMatch(line -> line.startsWith("selected voter-2, which does not respond"));
        assertThat(etcdctl(1, "get", "after")).contains("known");
        assertThat(survey.look().orElseThrow().members())
                .extracting(MemberFacts::name)
                .containsExactly("voter-2");
        assertThat(folder).isDirectoryContaining("glob:**/voter-1.old-*");
        assertThat(here.isRunning(machines.get(0).member())).contains(false);
    }

    @Test
    void aQuorumThatIsBackBeforeItWasLostForLongIsNotLost() {
        found(3);
        lostFor = PATIENCE;
        here.stop(machines.get(1).member());
        here.stop(machines.get(2).member());
        awaitLost();
        List<Boolean> outcome = new CopyOnWriteArrayList<>();
        Thread recovering = new Thread(() -> outcome.add(recovery(step -> false).run(Optional.empty())));
        recovering.start();
        await().until(() -> told.contains("checking for a quorum"));

        here.start(machines.get(1).member());

        await().atMost(PATIENCE).until(() -> outcome.contains(true));
        assertThat(told).anyMatch(line -> line.contains("nothing to recover"));
        assertThat(told).noneMatch(line -> line.startsWith("the quorum is lost"));
    }

    private interface Answer {
        boolean to(String step);
    }

    private Recovery recovery(Answer answer) {
        return new Recovery(
                survey,
                new Operator() {
                    @Override
                    public void tell(String line) {
                        told.add(line);
                    }

                    @Override
                    public boolean confirms(String step) {
                        return answer.to(step);
                    }
                },
                PATIENCE,
                lostFor,
                ELECTION);
    }

    private void wipe(int index) {
        control.process(machines.get(index)).kill();
        Folders.delete(machines.get(index).dataDirectory());
    }

    private void awaitLost() {
        await().atMost(PATIENCE)
                .until(() ->
                        survey.look().filter(facts -> !facts.quorum().isHeld()).isPresent());
    }

    private void put(String key, String value) {
        put(key, value, 0);
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

    private URI client(int index) {
        return URI.create("http://127.0.0.1:" + ports.get(2 * index + 1));
    }
}
