package io.understudy.cluster.recover;

import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.HashKVResponse;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.ProcessKind;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.PeerPort;
import io.understudy.cluster.observe.UnobservableException;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.Role;
import io.understudy.local.process.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * Reads what is left of a cluster: the state of responding members, and the data of all on this machine.
 *
 * @param machines of the members
 * @param connections stay the caller's to close
 * @param patience maximum time for responses
 */
public record Survey(
        ClusterObserver observer,
        Machines control,
        List<MachineSettings> machines,
        EtcdConnections connections,
        Duration patience) {

    private static final Duration LOOK = Duration.ofSeconds(3);

    /** A member reads its whole database for it. */
    private static final Duration HASH = Duration.ofMinutes(2);

    public Survey {
        machines = List.copyOf(machines);
    }

    public Survey(
            ClusterObserver observer, Machines control, List<MachineSettings> machines, EtcdConnections connections) {
        this(observer, control, machines, connections, LOOK);
    }

    /** Empty if no voting member responds. */
    Optional<ClusterFacts> look() {
        try {
            return Optional.of(observer.observe(patience));
        } catch (UnobservableException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    List<Remains> remains(Optional<ClusterFacts> facts) {
        return machines.stream().map(machine -> remains(machine, facts)).toList();
    }

    private Remains remains(MachineSettings machine, Optional<ClusterFacts> facts) {
        Optional<MemberFacts> member = facts.flatMap(seen -> seen.named(machine.name()));
        Optional<Boolean> isRunning = control.isRunning(machine.member());
        Optional<Boolean> hasData = Optional.empty();
        Optional<Stored> stored = Optional.empty();
        String trouble = "";
        if (machine.process() != ProcessKind.MANUAL) {
            hasData = Optional.of(new DataDirectory(machine.dataDirectory()).hasMember());
            try {
                stored = hasData.get() ? Optional.of(Stored.read(machine.dataDirectory())) : stored;
            } catch (IOException e) {
                trouble = String.valueOf(e.getMessage());
            }
        }
        return new Remains(
                machine,
                member.map(MemberFacts::role).or(stored(stored)),
                member.flatMap(MemberFacts::answer),
                isRunning,
                hasData,
                stored,
                trouble);
    }

    private static Supplier<Optional<Role>> stored(Optional<Stored> stored) {
        return () -> stored.flatMap(data -> data.isVoter()
                ? Optional.of(Role.VOTER)
                : data.isLearner() ? Optional.of(Role.LEARNER) : Optional.empty());
    }

    /** The member's status by its own client port; learners without a leader still serve it. */
    Optional<StatusResponse> status(MachineSettings machine) {
        return call(connections.call(
                endpoint(machine), MaintenanceGrpc.getStatusMethod(), StatusRequest.getDefaultInstance(), patience));
    }

    /**
     * Compares members by their hashes at one revision.
     *
     * @param least that the revision must be at least
     * @return what was compared, in a sentence
     * @throws RecoveryException they differ, lack revisions, or do not respond
     */
    String verify(List<MachineSettings> members, long least, Duration deadline) {
        String names =
                String.join(", ", members.stream().map(MachineSettings::name).toList());
        long revision = members.stream()
                .map(machine -> Waiting.until(
                        deadline,
                        () -> status(machine),
                        () -> new RecoveryException(
                                machine.name() + " does not serve after " + deadline.toSeconds() + " s; see its log",
                                null)))
                .mapToLong(status -> status.getHeader().getRevision())
                .max()
                .orElse(0L);
        if (revision < least) {
            throw new RecoveryException(
                    names + " serve revision " + revision + ", not the expected revision " + least
                            + ". The old data is kept beside the data directories",
                    null);
        }
        List<HashKVResponse> hashes = members.stream()
                .map(machine -> Waiting.until(
                        deadline,
                        () -> hash(machine, revision),
                        () -> new RecoveryException(
                                machine.name() + " gives no hash of revision " + revision + " after "
                                        + deadline.toSeconds() + " s; see its log",
                                null)))
                .toList();
        // Members compact at different times; only equal compactions are comparable.
        boolean isComparable = hashes.stream()
                        .map(HashKVResponse::getCompactRevision)
                        .distinct()
                        .count()
                <= 1;
        if (isComparable
                && hashes.stream().map(HashKVResponse::getHash).distinct().count() > 1) {
            throw new RecoveryException(
                    names + " differ at revision " + revision + ". The old data is kept beside the data directories",
                    null);
        }
        return "verified: revision " + revision + (isComparable ? ", equal hashes of " : ", present at ") + names;
    }

    /** Empty if the member does not have that revision, or does not respond. */
    private Optional<HashKVResponse> hash(MachineSettings machine, long revision) {
        return call(connections.call(
                endpoint(machine),
                MaintenanceGrpc.getHashKVMethod(),
                HashKVRequest.newBuilder().setRevision(revision).build(),
                HASH));
    }

    /** Whether the member serves peers, as it does without a leader. */
    boolean servesPeers(MachineSettings machine) {
        return call(PeerPort.answers(connections, machine.member().peerUrls().get(0), patience))
                .orElse(false);
    }

    static Endpoint endpoint(MachineSettings machine) {
        return Endpoint.of(machine.member().clientUrls().get(0));
    }

    private static <T> Optional<T> call(CompletableFuture<T> answer) {
        try {
            return Optional.of(answer.get());
        } catch (ExecutionException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static RecoveryException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new RecoveryException("interrupted while reading the state of the cluster", e);
    }
}
