package io.understudy.cluster.supervise;

import static java.util.stream.Collectors.joining;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.ConfiguredMachines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.etcd.EtcdConnections;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.fault.FaultProxy;
import io.understudy.local.fault.Party;
import io.understudy.local.fault.SlowDisk;
import io.understudy.local.fault.SocketOwners;
import io.understudy.local.process.FreePorts;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A real cluster on machines that are declared in a file, behind proxies, and supervisors that hold it to its shape. */
final class SupervisedCluster implements AutoCloseable {

    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final String HOST = "http://127.0.0.1:";

    private final Path folder;
    private final Path file;
    private final List<FreePorts> ports = new ArrayList<>();
    private final List<FaultProxy> clientProxies = new ArrayList<>();
    private final List<FaultProxy> peerProxies = new ArrayList<>();
    private final ClusterSettings settings;
    private final ConfiguredMachines machines;
    private final EtcdConnections connections;
    private final EtcdObserver observer;
    private final EtcdMembership membership;
    private final List<SupervisorProcess> supervisors = new ArrayList<>();
    private final List<Process> jvms = new ArrayList<>();
    private final Map<Integer, SlowDisk> slowDisks = new HashMap<>();
    private final Map<String, Long> deaf = new ConcurrentHashMap<>();

    private SupervisedCluster(Path folder, int machineCount, String shape, boolean hasFsync) throws IOException {
        this.folder = folder;
        StringBuilder yaml = new StringBuilder("machines:\n");
        for (int index = 0; index < machineCount; index++) {
            FreePorts free = FreePorts.take(4);
            ports.add(free);
            clientProxies.add(FaultProxy.between(free.get(0), loopback(free.get(1)), Party.ANYONE));
            peerProxies.add(FaultProxy.between(free.get(2), loopback(free.get(3)), clients(free.get(2))));
            yaml.append("  ").append(name(index)).append(":\n");
            yaml.append("    process: local\n");
            yaml.append("    clientUrls: ").append(HOST).append(free.get(0)).append('\n');
            yaml.append("    listenClientUrls: ")
                    .append(HOST)
                    .append(free.get(1))
                    .append('\n');
            yaml.append("    peerUrls: ").append(HOST).append(free.get(2)).append('\n');
            yaml.append("    listenPeerUrls: ").append(HOST).append(free.get(3)).append('\n');
            yaml.append("    dataDirectory: ").append(data(index)).append('\n');
            yaml.append(hasFsync ? "" : "    arguments: --unsafe-no-fsync=true\n");
        }
        yaml.append("cluster:\n  endpoints: ");
        yaml.append(ports.stream().map(free -> HOST + free.get(0)).collect(joining(", ")));
        yaml.append("\nshape:\n").append(shape.indent(2));
        yaml.append("supervisor:\n  interval: 500ms\n  patience: 1s\n  lease: 3s\n");
        file = Files.writeString(folder.resolve("cluster.yaml"), yaml);
        settings = ClusterSettings.load(file, Map.of(), Map.of());
        machines = machines(settings);
        connections = EtcdConnections.open(settings.cluster());
        observer = new EtcdObserver(settings.cluster(), connections, new SimpleMeterRegistry());
        membership = new EtcdMembership(observer, connections, new SimpleMeterRegistry());
    }

    /**
     * Founds a cluster.
     *
     * @param shape lines of that group of the file
     */
    static SupervisedCluster found(Path folder, int machineCount, int voters, String shape) throws IOException {
        return found(new SupervisedCluster(folder, machineCount, shape, false), voters);
    }

    /** Founds a cluster with flushes, which can be delayed. */
    static SupervisedCluster foundWithFsync(Path folder, int machineCount, int voters, String shape)
            throws IOException {
        return found(new SupervisedCluster(folder, machineCount, shape, true), voters);
    }

    private static SupervisedCluster found(SupervisedCluster cluster, int voters) {
        String initial = IntStream.range(0, voters)
                .mapToObj(index ->
                        name(index) + "=" + HOST + cluster.ports.get(index).get(2))
                .collect(joining(","));
        for (int index = 0; index < voters; index++) {
            cluster.machines.found(cluster.machines.place(name(index)).orElseThrow(), initial, "supervised");
        }
        return cluster;
    }

    static ConfiguredMachines machines(ClusterSettings settings) {
        return ConfiguredMachines.of(
                settings.machines(), () -> EtcdBinaries.find().etcd(), instruction -> {}, InstantSource.system());
    }

    /** Names a connection by its port, or by the deaf member that makes it: a lookup takes long. */
    private Party clients(int port) {
        SocketOwners owners = SocketOwners.of(port, () -> deaf);
        return client -> (deaf.isEmpty() ? Optional.<String>empty() : owners.at(client))
                .or(() -> Optional.of(Integer.toString(client.getPort())));
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    static String name(int index) {
        return "m" + (index + 1);
    }

    private Path data(int index) {
        return folder.resolve(name(index));
    }

    Path file() {
        return file;
    }

    ClusterSettings settings() {
        return settings;
    }

    List<URI> clientUrls() {
        return settings.cluster().endpoints();
    }

    /** Another supervisor, in this JVM. */
    SupervisorProcess supervise() throws IOException {
        FreePorts port = FreePorts.take(1);
        ports.add(port);
        ClusterSettings own =
                ClusterSettings.load(file, Map.of(), Map.of("supervisor.listen", "127.0.0.1:" + port.get(0)));
        SupervisorProcess supervisor = SupervisorProcess.start(own, machines(own));
        supervisors.add(supervisor);
        return supervisor;
    }

    /** Another supervisor, in a JVM of its own, to be killed. */
    SupervisorJvm superviseApart() throws IOException {
        FreePorts port = FreePorts.take(1);
        ports.add(port);
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.net.preferIPv4Stack=true",
                        "-Dunderstudy.etcd.version=" + System.getProperty("understudy.etcd.version", ""),
                        "-cp",
                        System.getProperty("java.class.path"),
                        SupervisorMain.class.getName(),
                        file.toString(),
                        "127.0.0.1:" + port.get(0))
                .redirectErrorStream(true)
                .redirectOutput(
                        folder.resolve("supervisor-" + port.get(0) + ".log").toFile())
                .start();
        jvms.add(jvm);
        return new SupervisorJvm(jvm, new StateClient(URI.create(HOST + port.get(0)), null));
    }

    record SupervisorJvm(Process process, StateClient client) {
        void pause() {
            signal(process.toHandle(), "STOP");
        }

        void resume() {
            signal(process.toHandle(), "CONT");
        }

        String state() throws InterruptedException {
            try {
                return client.state();
            } catch (IOException e) {
                return "";
            }
        }

        boolean isActive() throws InterruptedException {
            return state().contains("\"standing\" : \"active\"");
        }

        boolean isStandby() throws InterruptedException {
            return state().contains("\"standing\" : \"standby to ");
        }
    }

    /** The current state; empty if no member responds. */
    Optional<ClusterFacts> look() {
        try {
            return Optional.of(observer.observe(LOOK));
        } catch (UnobservableException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Names of the voters, as a quorum confirms them; none if it doesn't. */
    Set<String> voters() {
        return look().filter(ClusterFacts::isConfirmed)
                .map(facts -> names(facts.voters()))
                .orElse(Set.of());
    }

    private static Set<String> names(List<MemberFacts> members) {
        return members.stream().map(MemberFacts::label).collect(Collectors.toSet());
    }

    /** Whether there are just so many voters and learners, all healthy. */
    boolean isOf(int voters, int learners) {
        return look().filter(facts -> facts.isConfirmed()
                        && facts.voters().size() == voters
                        && facts.learners().size() == learners
                        && facts.members().stream().allMatch(MemberFacts::isHealthy))
                .isPresent();
    }

    void kill(int index) {
        running(index).ifPresent(process -> {
            boolean unused = process.destroyForcibly();
        });
    }

    String leader() {
        return look().flatMap(ClusterFacts::leader).orElseThrow().name();
    }

    /** One of two voting members that does not lead. */
    String follower(int one, int other) {
        return leader().equals(name(one)) ? name(other) : name(one);
    }

    static int index(String name) {
        return Integer.parseInt(name.substring(1)) - 1;
    }

    void pause(String name) {
        pause(index(name));
    }

    void pause(int index) {
        running(index).ifPresent(process -> signal(process, "STOP"));
    }

    void resume(int index) {
        running(index).ifPresent(process -> signal(process, "CONT"));
    }

    private static void signal(ProcessHandle process, String signal) {
        try {
            int unused = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** As an init system would, if it is there and not running. */
    void start(int index) {
        machines.place(name(index))
                .filter(place -> !machines.isRunning(place).orElse(false))
                .ifPresent(machines::start);
    }

    /** Cuts it off from clients and supervisors, but not from members. */
    void cutClients(int index) {
        clientProxies.get(index).blackHole();
    }

    /** What it sends to members does not arrive: they receive on connections that they made to it. */
    void mute(int index) {
        peerProxies.get(index).blackHole();
    }

    /** What members send does not arrive there, on the connections that it has made and makes to them. */
    void deafen(int index) {
        Optional<Long> pid = running(index).map(ProcessHandle::pid);
        if (pid.isEmpty()) {
            return;
        }
        deaf.put(name(index), pid.get());
        Set<String> sockets = sockets(pid.get());
        for (FaultProxy proxy : peerProxies) {
            proxy.from(name(index)).blackHole();
            clientPorts(sockets, proxy.port())
                    .forEach(port -> proxy.from(Integer.toString(port)).blackHole());
        }
    }

    /** Inodes of the sockets that a process has. */
    private static Set<String> sockets(long pid) {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "fd"))) {
            for (Path file : files) {
                inodes.add(Files.readSymbolicLink(file).toString().replaceAll("\\D", ""));
            }
            return inodes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Integer> clientPorts(Set<String> sockets, int server) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/net/tcp"))) {
            return lines.map(line -> line.strip().split("[ :]+", -1))
                    .filter(columns -> columns[4].equals("%04X".formatted(server)) && sockets.contains(columns[13]))
                    .map(columns -> Integer.parseInt(columns[2], 16))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void delayFsyncs(int index, Duration delay) {
        running(index).ifPresent(process -> slowDisks.put(index, SlowDisk.of(process.pid(), delay)));
    }

    /** Commits of its database do not end, while its log is written. */
    void freezeDatabase(int index) {
        Path database = data(index).resolve("member/snap/db");
        running(index)
                .ifPresent(process ->
                        slowDisks.put(index, SlowDisk.ofFile(process.pid(), Duration.ofMinutes(5), database)));
    }

    void heal(int index) {
        clientProxies.get(index).heal();
        peerProxies.get(index).heal();
        if (deaf.remove(name(index)) != null) {
            peerProxies.forEach(FaultProxy::heal);
        }
        Optional.ofNullable(slowDisks.remove(index)).ifPresent(SlowDisk::close);
    }

    /** As an operator might; that it may fail is part of what happens. */
    void remove(MemberId member) {
        try {
            membership.remove(member);
        } catch (RefusedException | OutcomeUnknownException e) {
            System.out.println("not removed: " + e.getMessage());
        }
    }

    /** Adds a member that is never started, as by an oversight of an operator; may fail. */
    void addOnFreeMachine() {
        List<URI> taken = look().orElseThrow().members().stream()
                .flatMap(member -> member.peerUrls().stream())
                .toList();
        try {
            for (MemberSpec place : machines.places()) {
                if (place.peerUrls().stream().noneMatch(taken::contains)
                        && !machines.isRunning(place).orElse(false)) {
                    var unused = membership.addLearner(place.peerUrls());
                    return;
                }
            }
        } catch (RefusedException | OutcomeUnknownException e) {
            System.out.println("not added: " + e.getMessage());
        }
    }

    private Optional<ProcessHandle> running(int index) {
        String dataFlag = "--data-dir=" + data(index);
        return ProcessHandle.allProcesses()
                .filter(ProcessHandle::isAlive)
                .filter(process -> argumentsOf(process).contains(dataFlag))
                .findFirst();
    }

    private static List<String> argumentsOf(ProcessHandle process) {
        try {
            return List.of(Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
                    .split("\0", -1));
        } catch (IOException e) {
            return List.of();
        }
    }

    @Override
    public void close() {
        supervisors.forEach(SupervisorProcess::close);
        jvms.forEach(Process::destroyForcibly);
        slowDisks.values().forEach(SlowDisk::close);
        for (int index = 0; index < settings.machines().size(); index++) {
            resume(index);
            kill(index);
        }
        connections.close();
        clientProxies.forEach(FaultProxy::close);
        peerProxies.forEach(FaultProxy::close);
        ports.forEach(FreePorts::close);
    }
}
