package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.recover.LogEntry.Voting;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which learner is restored from, and where to: of three lost voting members, a stopped learner m4 and a serving m5. */
final class LearnerRestoreTest {

    private static final ClusterFacts QUORUM = new ClusterFacts(
            new ClusterId(7),
            List.of(new MemberFacts(
                    new MemberId(1),
                    "m1",
                    Role.VOTER,
                    List.of(URI.create("http://127.0.0.1:11")),
                    List.of(URI.create("http://127.0.0.1:21")),
                    Optional.of(MemberAnswer.of(
                            StatusResponse.newBuilder().setLeader(1).build(), true)),
                    MemberFacts.Measurements.NONE)),
            true,
            List.of(),
            Instant.EPOCH);

    @TempDir
    private Path folder;

    private String toolVersion = "3.5.10";
    private boolean confirmed;
    private final EtcdConnections connections = EtcdConnections.open(EtcdSettings.of(URI.create("http://127.0.0.1:1")));
    private final List<Remains> remains = Stream.concat(
                    IntStream.rangeClosed(1, 3)
                            .mapToObj(number -> new Remains(
                                    machine(number, ProcessKind.LOCAL),
                                    Optional.empty(),
                                    Optional.empty(),
                                    Optional.of(false),
                                    Optional.of(false),
                                    Optional.empty(),
                                    "")),
                    Stream.of(
                            SurvivorsTest.with(4, new Voting(Set.of(1L, 2L, 3L), Set.of(4L, 5L)), 2, 10),
                            new Remains(
                                    machine(5, ProcessKind.MANUAL),
                                    Optional.of(Role.LEARNER),
                                    Optional.of(MemberAnswer.of(
                                            StatusResponse.newBuilder()
                                                    .setRaftTerm(2)
                                                    .setRaftIndex(20)
                                                    .build(),
                                            false)),
                                    Optional.empty(),
                                    Optional.empty(),
                                    Optional.empty(),
                                    "")))
            .toList();

    @AfterEach
    void close() {
        connections.close();
    }

    @Test
    void theLearnerThatIsAheadIsRecommended() {
        assertThatThrownBy(() -> restore(3).run(Set.of(), remains))
                .isInstanceOf(RecoveryException.class)
                .hasMessageStartingWith(
                        "cannot determine whether learner m5 has the most recent data: it is a learner and"
                                + " responds: raft term 2, committed index 20")
                .hasMessageContaining("; m4 is a learner and does not respond")
                .hasMessageContaining("log ends at term 2, index 10")
                .hasMessageEndingWith(". Choose it with --from m5");
    }

    @Test
    void aServingLearnerIsNoTarget() {
        assertThatThrownBy(() -> restore(5).run(Set.of("m4"), remains))
                .hasMessage("shape.voters is 5, and only 3 machines are configured besides m4: configure more");
    }

    @Test
    void aQuorumThatReturnsBeforeTheConfirmationEndsTheRestore() {
        confirmed = true;
        assertThatThrownBy(() -> restore(3).run(Set.of("m5"), remains))
                .isInstanceOf(RecoveryException.class)
                .hasMessageStartingWith(
                        "the state has changed before the confirmation: there is a quorum; m1 responds");
    }

    /** The restore increases the revision. */
    @Test
    void anOldToolEndsTheRestoreBeforeAnyEffect() {
        toolVersion = "3.5.9";
        assertThatThrownBy(() -> restore(3).run(Set.of("m5"), remains))
                .isInstanceOf(SnapshotException.class)
                .hasMessageEndingWith(
                        "etcdutl has version 3.5.9; --bump-revision requires 3.5.10 or later: install a later version");
    }

    private LearnerRestore restore(int voters) {
        return new LearnerRestore(
                new Survey(
                        patience -> {
                            if (!confirmed) {
                                throw new UnobservableException("no endpoint reachable");
                            }
                            return QUORUM;
                        },
                        new NoMachines(),
                        remains.stream().map(Remains::machine).toList(),
                        connections,
                        Duration.ofSeconds(1)),
                new Operator() {
                    @Override
                    public void print(String line) {}

                    @Override
                    public boolean confirms(String step) {
                        if (!confirmed) {
                            throw new IllegalStateException("not to be confirmed: " + step);
                        }
                        return true;
                    }
                },
                this::tool,
                () -> Path.of("etcd"),
                Optional.empty(),
                new Shape(voters, 1, Set.of(), false, 1),
                Duration.ofSeconds(1));
    }

    private SnapshotTool tool() {
        try {
            Path program = Files.writeString(
                    folder.resolve("etcdutl"), "#!/bin/sh\n[ $1 = version ] && echo etcdutl version: " + toolVersion);
            return new SnapshotTool(
                    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static MachineSettings machine(int number, ProcessKind process) {
        return MachineSettings.of(
                new MemberSpec(
                        "m" + number,
                        List.of(URI.create("http://127.0.0.1:1" + number)),
                        List.of(URI.create("http://127.0.0.1:2" + number))),
                process,
                Path.of("/nowhere", "m" + number));
    }
}
