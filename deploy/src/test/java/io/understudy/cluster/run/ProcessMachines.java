package io.understudy.cluster.run;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Members of a test's cluster, and free places beside it, as processes of this machine. */
final class ProcessMachines implements Machines, AutoCloseable {

    private static final int LOG_LINES = 8;

    private final LocalEtcd cluster;
    private final Path folder;
    private final Path etcd = EtcdBinaries.find().etcd();
    private final List<FreePorts> ports = new ArrayList<>();
    private final List<MemberSpec> places = new ArrayList<>();
    private final Map<String, ServerProcess> processes = new HashMap<>();
    private UnaryOperator<String> initialClusterAsGiven = UnaryOperator.identity();

    ProcessMachines(LocalEtcd cluster, Path folder) {
        this.cluster = cluster;
        this.folder = folder;
    }

    /** A place where nothing runs yet. */
    MemberSpec newPlace() {
        FreePorts free = FreePorts.take(2);
        ports.add(free);
        MemberSpec place = new MemberSpec("new-" + ports.size(), List.of(url(free.get(0))), List.of(url(free.get(1))));
        places.add(place);
        return place;
    }

    /** A place behind proxies, as the members of the cluster are. */
    MemberSpec newPlaceBehindProxies() {
        EtcdMember newcomer = cluster.declareNewcomer();
        MemberSpec place = new MemberSpec(newcomer.name(), List.of(newcomer.peerUrl()), List.of(newcomer.clientUrl()));
        places.add(place);
        return place;
    }

    EtcdMember member(MemberSpec place) {
        return declared(place).orElseThrow();
    }

    /** Simulates an operator that starts a member with a wrong command line. */
    void misread(UnaryOperator<String> initialCluster) {
        initialClusterAsGiven = initialCluster;
    }

    static URI url(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }

    @Override
    public List<MemberSpec> places() {
        return List.copyOf(places);
    }

    @Override
    public void found(MemberSpec member, String initialCluster, String token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void copyData(MemberSpec member) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void retire(MemberSpec member) {
        stop(member);
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        Optional<EtcdMember> declared = declared(member);
        if (declared.isPresent()) {
            declared.get().join(initialClusterAsGiven.apply(initialCluster));
            return;
        }
        setAside(member);
        launch(
                member,
                List.of(
                        "--initial-cluster-state=existing",
                        "--initial-cluster=" + initialClusterAsGiven.apply(initialCluster)));
    }

    @Override
    public void start(MemberSpec member) {
        Optional<EtcdMember> declared = declared(member);
        if (declared.isPresent()) {
            declared.get().launch();
        } else {
            launch(member, List.of());
        }
    }

    private void launch(MemberSpec member, List<String> more) {
        List<String> arguments = new ArrayList<>(List.of(
                "--name=" + member.name(),
                "--data-dir=" + data(member),
                "--listen-client-urls=" + joined(member.clientUrls()),
                "--advertise-client-urls=" + joined(member.clientUrls()),
                "--listen-peer-urls=" + joined(member.peerUrls()),
                "--initial-advertise-peer-urls=" + joined(member.peerUrls()),
                "--unsafe-no-fsync"));
        arguments.addAll(more);
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ServerProcess process = new LocalProcesses()
                .prepare(new ServerCommand(
                        member.name(), etcd, arguments, Map.of(), folder, folder.resolve(member.name() + ".log")));
        processes.put(member.name(), process);
        process.start();
    }

    @Override
    public void stop(MemberSpec member) {
        declared(member).filter(EtcdMember::isAlive).ifPresent(EtcdMember::stop);
        process(member).filter(ServerProcess::isAlive).ifPresent(ServerProcess::stop);
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return Optional.of(declared(member).map(EtcdMember::isAlive).orElse(false)
                || process(member).map(ServerProcess::isAlive).orElse(false));
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        try {
            if (Files.exists(data(from))) {
                Files.move(data(from), data(to));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public List<String> endOfLog(MemberSpec member) {
        return declared(member)
                .map(declared -> declared.log().tail(LOG_LINES))
                .or(() -> process(member).map(process -> process.log().tail(LOG_LINES)))
                .orElse(List.of());
    }

    private Optional<EtcdMember> declared(MemberSpec member) {
        return cluster.members().stream()
                .filter(each -> each.name().equals(member.name()))
                .findFirst();
    }

    private Optional<ServerProcess> process(MemberSpec member) {
        return Optional.ofNullable(processes.get(member.name()));
    }

    private Path data(MemberSpec member) {
        return folder.resolve(member.name() + ".data");
    }

    private void setAside(MemberSpec member) {
        if (Files.exists(data(member))) {
            try {
                Files.move(data(member), folder.resolve(member.name() + ".old-" + System.nanoTime()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static String joined(List<URI> urls) {
        return urls.stream().map(URI::toString).collect(joining(","));
    }

    @Override
    public void close() {
        processes.values().stream().filter(ServerProcess::isAlive).forEach(ServerProcess::kill);
        ports.forEach(FreePorts::close);
    }
}
