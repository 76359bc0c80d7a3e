package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.Failure;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.recover.LogEntry.LogPosition;
import io.understudy.cluster.recover.LogEntry.Voting;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.snapshot.Restore;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a recovery does where another cluster is at the configured URLs and directories. */
final class ForeignClusterTest {

    private static final long OWN = 1;
    private static final long FOREIGN = 2;

    private final List<MachineSettings> machines = IntStream.rangeClosed(1, 4)
            .mapToObj(number -> MachineSettings.of(
                    new MemberSpec(
                            "m" + number,
                            List.of(URI.create("http://127.0.0.1:1" + number)),
                            List.of(URI.create("http://127.0.0.1:2" + number))),
                    ProcessKind.LOCAL,
                    Path.of("/nowhere", "m" + number)))
            .toList();
    private final EtcdConnections connections = EtcdConnections.open(EtcdSettings.of(URI.create("http://127.0.0.1:1")));
    private final Directories directories = new Directories();
    private ClusterId observed = new ClusterId(OWN);
    private final ClusterObserver observer =
            patience -> new ClusterFacts(observed, List.of(), true, List.of(), Instant.EPOCH);

    @AfterEach
    void close() {
        connections.close();
    }

    @Test
    void anotherClusterThatAnswersIsNotAccepted() {
        directories.owners = Map.of("m1", new DataOwner(new ClusterId(OWN), new MemberId(1)));
        assertThat(survey(observer).look()).isPresent();

        observed = new ClusterId(FOREIGN);
        assertThatThrownBy(() -> survey(observer).look())
                .isInstanceOf(RecoveryException.class)
                .hasMessageContaining("members of cluster 2 respond")
                .hasMessageContaining("{m1=1}");
    }

    @Test
    void theCauseOfSilenceIsKept() {
        Survey silent = survey(patience -> {
            throw new UnobservableException("no endpoint reachable: connection refused");
        });
        assertThat(silent.look()).isEmpty();
        assertThat(silent.silence()).isEqualTo("no endpoint reachable: connection refused");
    }

    @Test
    void anEndpointThatRejectsRequestsIsNotALostQuorum() {
        Survey rejected = survey(patience -> {
            throw UnobservableException.rejected("m1 responds and rejects requests: user name is empty");
        });
        assertThatThrownBy(rejected::silence)
                .isInstanceOf(RecoveryException.class)
                .hasMessage(
                        "cannot determine whether the quorum is lost: m1 responds and rejects requests: user name is"
                                + " empty");
    }

    /** The two others may have a quorum. */
    @Test
    void votingMembersThatRejectRequestsAreNotALostQuorum() {
        List<MemberFacts> members = machines.stream()
                .limit(3)
                .map(machine -> new MemberFacts(
                        new MemberId(machines.indexOf(machine) + 1),
                        machine.name(),
                        Role.VOTER,
                        machine.member().peerUrls(),
                        machine.member().clientUrls(),
                        Optional.empty(),
                        MemberFacts.Measurements.NONE))
                .toList();
        ClusterFacts facts = new ClusterFacts(
                observed,
                members,
                false,
                List.of(),
                Instant.EPOCH,
                ClusterFacts.Divergence.NONE,
                Map.of(new MemberId(2), new Failure("certificate_unknown", false, true)));
        assertThatThrownBy(() -> QuorumWatch.requireClear(facts))
                .isInstanceOf(RecoveryException.class)
                .hasMessageStartingWith("cannot determine whether the quorum is lost: m2: certificate_unknown");
    }

    @Test
    void aDirectoryThatAnotherClusterUsesIsNoTargetOfARestore() {
        directories.owners = Map.of("m2", new DataOwner(new ClusterId(FOREIGN), new MemberId(9)));
        assertThatThrownBy(() -> restore()
                        .run(Set.of("m4"), machines.stream().map(this::remains).toList()))
                .isInstanceOf(RecoveryException.class)
                .hasMessageContaining("a process uses /nowhere/m2, of member 9 of cluster 2");
    }

    @Test
    void aMemberWithAUnitOfOtherDataIsNotStarted() {
        directories.programFailure = Optional.of("unit etcd.service has --data-dir /other in ExecStart");
        assertThatThrownBy(() -> restore()
                        .run(Set.of("m4"), machines.stream().map(this::remains).toList()))
                .isInstanceOf(RecoveryException.class)
                .hasMessage("m1 could not start: unit etcd.service has --data-dir /other in ExecStart; nothing was"
                        + " changed");
        Restore restore = new Restore(new SnapshotTool(Path.of("/nowhere")), directories, line -> {});
        assertThatThrownBy(
                        () -> restore.restoreDatabase(Path.of("/nowhere/db"), machines, "token", OptionalLong.empty()))
                .isInstanceOf(SnapshotException.class)
                .hasMessage("member m1 could not start: unit etcd.service has --data-dir /other in ExecStart");
    }

    @Test
    void aMountPointIsNoTargetOfARestore() {
        MachineSettings mounted = machines.get(0).withMember(machines.get(0).member(), Path.of("/proc"));
        List<Remains> remains = Stream.concat(
                        Stream.of(mounted), machines.stream().skip(1))
                .map(this::remains)
                .toList();
        assertThatThrownBy(() -> restore().run(Set.of("m4"), remains))
                .isInstanceOf(RecoveryException.class)
                .hasMessage("data directory /proc of m1 is a mount point, which can neither be renamed nor replaced;"
                        + " configure a directory below it; nothing was changed");
    }

    /** A sparse file of that length needs no room before it is copied. */
    @Test
    void withoutRoomForARestoreNoDirectoryIsSetAside(@TempDir Path folder) throws IOException {
        MachineSettings learner = machines.get(3).withMember(machines.get(3).member(), folder.resolve("m4"));
        Path member = Files.createDirectories(learner.dataDirectory().resolve("member"));
        try (RandomAccessFile file = new RandomAccessFile(member.resolve("db").toFile(), "rw")) {
            file.setLength(1L << 42);
        }
        List<Remains> remains = Stream.concat(machines.stream().limit(3), Stream.of(learner))
                .map(this::remains)
                .toList();

        assertThatThrownBy(() -> restore().run(Set.of("m4"), remains))
                .isInstanceOf(RecoveryException.class)
                .hasMessageContaining("the data of the new cluster need")
                .hasMessageContaining("nothing was changed");
    }

    /** Its folder may be on a disk that is not mounted. */
    @Test
    void aDirectoryThatCannotBeSeenIsNoProofOfALoss() {
        Remains unseen = survey(observer).remains(Optional.empty()).get(0);

        assertThat(unseen.isGone()).isFalse();
        assertThat(unseen.state())
                .contains("its data is not accessible", "/nowhere/m1 may have data", "not mounted or empty");
    }

    private LearnerRestore restore() {
        return new LearnerRestore(
                survey(observer),
                new NoConfirmation(),
                () -> {
                    throw new IllegalStateException("nothing is restored");
                },
                () -> Path.of("etcd"),
                Optional.empty(),
                new Shape(3, 1, Set.of(), false, 1),
                Duration.ofSeconds(1));
    }

    private Survey survey(ClusterObserver looks) {
        return new Survey(looks, directories, machines, connections, Duration.ofSeconds(1));
    }

    private Remains remains(MachineSettings machine) {
        boolean isLearner = machine.name().equals("m4");
        Stored stored = new Stored(
                new WriteAheadLog(
                        4,
                        OWN,
                        2,
                        0,
                        new LogPosition(2, 10),
                        10,
                        new Voting(Set.of(1L, 2L, 3L), Set.of(4L)),
                        List.of(),
                        new WriteAheadLog.End(Path.of("/nowhere"), 0, 0)),
                new Stored.Database(7, 10, Map.of()));
        return new Remains(
                machine,
                isLearner ? Optional.of(Role.LEARNER) : Optional.empty(),
                Optional.empty(),
                Optional.of(false),
                Optional.of(isLearner),
                isLearner ? Optional.of(stored) : Optional.empty(),
                "");
    }

    /** Every directory with an owner is in use. */
    private static final class Directories extends NoMachines {

        private Map<String, DataOwner> owners = Map.of();
        private Optional<String> programFailure = Optional.empty();

        @Override
        public Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
            return programFailure;
        }

        @Override
        public boolean isInUse(MemberSpec member) {
            return owners.containsKey(member.name());
        }

        @Override
        public Optional<DataOwner> owner(MemberSpec member) {
            return Optional.ofNullable(owners.get(member.name()));
        }
    }

    private static final class NoConfirmation implements Operator {

        @Override
        public void print(String line) {
            // Nothing is asserted about it.
        }

        @Override
        public boolean confirms(String step) {
            throw new IllegalStateException("not to be confirmed: " + step);
        }
    }
}
