package io.understudy.lab;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.check.SelfCheck;
import io.understudy.lab.check.SelfCheck.WriteVisibility;
import io.understudy.lab.check.Viewpoint;
import io.understudy.lab.check.Viewpoint.EtcdViewpoint;
import io.understudy.lab.check.Viewpoint.KafkaViewpoint;
import io.understudy.lab.directory.LabDirectory;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.CoreClusterPart;
import io.understudy.lab.part.EtcdPart;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.part.KafkaPart;
import io.understudy.lab.part.Part;
import io.understudy.lab.part.Part.Child;
import io.understudy.lab.part.UnderstudyPart;
import io.understudy.lab.plan.StartPlan.LabStep;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.kafka.LocalKafka;
import io.understudy.local.kafka.LocalKafkaBuilder;
import io.understudy.local.process.Folders;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a lab and their order.
 *
 * <p>Parts wait only for what they need. Kafka, the slowest, starts at once together with the search for etcd. So do
 * gateway and mirror, which wait for their sources and targets themselves.
 */
final class LabParts {

    /** Heap limit, since all parts share one machine. */
    private static final String HEAP = "-Xmx512m";

    /** The user of the lab itself, and the name of its certificate. */
    private static final String OWN = LabUsers.OWN;

    private static final String CORE = "core";
    private static final String SUPERVISOR = "supervisor";
    private static final List<LabPort> CORE_PORTS =
            List.of(LabPort.VOTER_1, LabPort.VOTER_2, LabPort.VOTER_3, LabPort.LEARNER);

    private final LabNetwork network;
    private final LabDirectory directory;
    private final EtcdPrograms programs;
    private final CoreClusterPart core;
    private final EtcdPart dr;
    private final UnderstudyPart gateway;
    private final UnderstudyPart mirror;
    private final UnderstudyPart supervisor;
    private final Optional<Relay> relay;

    /** Kafka, and what is fed from it. */
    private record Relay(KafkaPart kafka, EtcdPart edge, UnderstudyPart gateway) {
        List<Part> parts() {
            return List.of(kafka, edge, gateway);
        }
    }

    private LabParts(LabDirectory directory, LabNetwork network, boolean withKafka, Progress progress) {
        LabUsers users = network.users();
        this.network = network;
        this.directory = directory;
        this.programs = new EtcdPrograms(progress);
        this.core = new CoreClusterPart(
                List.of(
                        coreSeat(1, LabPort.VOTER_1, LabPort.VOTER_1_PEER),
                        coreSeat(2, LabPort.VOTER_2, LabPort.VOTER_2_PEER),
                        coreSeat(3, LabPort.VOTER_3, LabPort.VOTER_3_PEER)),
                coreSeat(4, LabPort.LEARNER, LabPort.LEARNER_PEER),
                clusterSettings(network),
                users == null ? null : users.ofCore(),
                programs,
                progress);
        this.dr = new EtcdPart(
                "dr",
                List.of("dr-1"),
                () -> single("dr", LabPort.DR, LabPort.DR_PEER, users),
                users == null ? null : users.ofCopy(),
                network.files(OWN),
                progress);
        this.gateway = new UnderstudyPart(
                "gateway",
                List.of("gateway"),
                directory.folder("gateway"),
                Configurations.gateway(network, "gateway", withKafka),
                HEAP,
                network.url(LabPort.GATEWAY).resolve("/readyz"),
                network.files(OWN),
                progress);
        this.mirror = new UnderstudyPart(
                "mirror",
                List.of("mirror"),
                directory.folder("mirror"),
                Configurations.mirror(network, withKafka),
                HEAP,
                network.url(LabPort.MIRROR).resolve("/readyz"),
                network.files(OWN),
                progress);
        this.supervisor = new UnderstudyPart(
                SUPERVISOR,
                List.of("cluster", "supervise"),
                directory.folder(SUPERVISOR),
                Configurations.cluster(network, SUPERVISOR),
                HEAP,
                network.url(LabPort.SUPERVISOR).resolve("/readyz"),
                network.files(OWN),
                progress);
        this.relay = withKafka ? Optional.of(relay(progress)) : Optional.empty();
    }

    private Relay relay(Progress progress) {
        return new Relay(
                new KafkaPart(broker(), progress),
                new EtcdPart(
                        "edge",
                        List.of("edge-1"),
                        () -> single("edge", LabPort.EDGE, LabPort.EDGE_PEER, null),
                        progress),
                new UnderstudyPart(
                        "edge-gateway",
                        List.of("gateway"),
                        directory.folder("edge-gateway"),
                        Configurations.edgeGateway(network, "edge-gateway"),
                        HEAP,
                        network.url(LabPort.EDGE_GATEWAY).resolve("/readyz"),
                        network.files(OWN),
                        progress));
    }

    private static EtcdSettings clusterSettings(LabNetwork network) {
        EtcdSettings own = network.client(LabPort.VOTER_1, OWN, LabUsers.SUPERVISOR);
        return own.withEndpoints(CORE_PORTS.stream().map(network::url).toList());
    }

    static LabParts of(LabDirectory directory, LabNetwork network, boolean withKafka, Progress progress) {
        Path cluster = directory.folder(CORE).resolve("cluster.yaml");
        try {
            Files.writeString(cluster, Configurations.cluster(network, OWN));
        } catch (IOException e) {
            throw new LabException("cannot write the configuration " + cluster + ": " + e.getMessage(), e);
        }
        return new LabParts(directory, network, withKafka, progress);
    }

    private CoreClusterPart.Seat coreSeat(int number, LabPort client, LabPort peer) {
        Path folder = Folders.create(directory.folder("core").resolve("core-" + number));
        MemberSpec member = new MemberSpec("core-" + number, List.of(network.url(peer)), List.of(network.url(client)));
        return new CoreClusterPart.Seat(MachineSettings.of(member, ProcessKind.LOCAL, folder.resolve("data"))
                .withLog(folder.resolve("etcd.log"))
                .withArguments(coreArguments()));
    }

    private List<String> coreArguments() {
        TlsFiles files = network.files(CORE);
        return files == null
                ? List.of()
                : List.of(
                        "--cert-file=" + files.certificate(),
                        "--key-file=" + files.key(),
                        "--trusted-ca-file=" + files.trusted(),
                        "--client-cert-auth=true",
                        "--peer-cert-file=" + files.certificate(),
                        "--peer-key-file=" + files.key(),
                        "--peer-trusted-ca-file=" + files.trusted(),
                        "--peer-client-cert-auth=true");
    }

    /** @param users of it; null for none */
    private LocalEtcd single(String name, LabPort client, LabPort peer, @Nullable LabUsers users) {
        return LocalEtcd.builder()
                .name(name)
                .voters(1)
                .dataDirectory(directory.folder(name))
                .clientPorts(numbers(client))
                .peerPorts(numbers(peer))
                .binaries(programs.found())
                .tls(network.server(name))
                .rootPassword(users == null ? null : users.login(LabUsers.ROOT).password())
                .build();
    }

    private LocalKafkaBuilder broker() {
        return LocalKafka.builder()
                .dataDirectory(directory.folder("kafka"))
                .port(network.number(LabPort.KAFKA))
                .controllerPort(network.number(LabPort.KAFKA_CONTROLLER))
                .tls(network.server("kafka"));
    }

    private int[] numbers(LabPort... wanted) {
        return List.of(wanted).stream().mapToInt(network::number).toArray();
    }

    List<Part> all() {
        List<Part> parts = new ArrayList<>(List.of(core, dr, gateway, mirror, supervisor));
        relay.map(Relay::parts).ifPresent(parts::addAll);
        return parts;
    }

    List<LabStep> steps() {
        List<LabStep> steps = new ArrayList<>();
        relay.map(Relay::kafka).ifPresent(part -> steps.add(LabStep.first(part.name(), part::start)));
        steps.add(LabStep.first("etcd", programs::find));
        steps.add(LabStep.after("etcd", core.name(), core::start));
        steps.add(LabStep.after("etcd", dr.name(), dr::start));
        steps.add(LabStep.first(gateway.name(), gateway::start));
        steps.add(LabStep.first(mirror.name(), mirror::start));
        steps.add(LabStep.first(supervisor.name(), supervisor::start));
        relay.ifPresent(more -> {
            steps.add(LabStep.after("etcd", more.edge().name(), more.edge()::start));
            steps.add(LabStep.first(more.gateway().name(), more.gateway()::start));
        });
        return steps;
    }

    /** Readers first, then what the mirror writes to, the source of it all last. */
    List<List<Part>> stopOrder() {
        List<Part> readers = new ArrayList<>(List.of(supervisor, mirror, gateway));
        List<Part> targets = new ArrayList<>(List.of(dr));
        relay.ifPresent(more -> {
            readers.add(more.gateway());
            targets.addAll(List.of(more.kafka(), more.edge()));
        });
        return List.of(readers, targets, List.of(core));
    }

    /** Returns the check that writes to a voter and observes these viewpoints. */
    SelfCheck check(Viewpoints viewpoints) {
        return new SelfCheck(network.client(LabPort.VOTER_1, OWN, LabUsers.OWN), "dr", viewpoints.all());
    }

    Viewpoints viewpoints() {
        LabCertificates certificates = network.certificates();
        List<Viewpoint> all = new ArrayList<>();
        all.add(new EtcdViewpoint(
                "seen at the gateway, serializable read", network.client(LabPort.GATEWAY, OWN, LabUsers.OWN)));
        all.add(new EtcdViewpoint("seen in the DR cluster", network.client(LabPort.DR, OWN, LabUsers.OWN)));
        if (relay.isPresent()) {
            all.add(new KafkaViewpoint(
                    "seen in Kafka, topic " + Configurations.TOPIC,
                    network.address(LabPort.KAFKA),
                    certificates == null ? null : certificates.kafkaClient(OWN),
                    Configurations.TOPIC));
            all.add(new EtcdViewpoint("seen in the edge cluster, fed from Kafka", network.client(LabPort.EDGE, OWN)));
            all.add(new EtcdViewpoint(
                    "seen at the edge gateway, fed from Kafka", network.client(LabPort.EDGE_GATEWAY, OWN)));
        }
        return new Viewpoints(all);
    }

    LabReport report(List<WriteVisibility> check) {
        List<LabReport.Served> served = new ArrayList<>();
        for (LabPort port : LabPort.used(relay.isPresent())) {
            if (!port.internal()) {
                served.add(new LabReport.Served(port.part(), port.serves(), network.address(port), pid(port.part())));
            }
        }
        return new LabReport(directory.path(), served, check, new Hints(network, directory, programs.found()).all());
    }

    private long pid(String child) {
        return all().stream()
                .flatMap(part -> part.children().stream())
                .filter(candidate -> candidate.name().equals(child))
                .map(Child::process)
                .flatMap(process -> process.get().pid().stream().boxed())
                .findFirst()
                .orElse(0L);
    }

    /** Commands that the user of a lab may want to try. */
    private record Hints(LabNetwork network, LabDirectory directory, EtcdBinaries programs) {

        List<String> all() {
            List<String> commands = new ArrayList<>();
            LabUsers users = network.users();
            if (users != null) {
                // Neither program's arguments, which everyone on the machine can see, have the password.
                commands.add("export ETCDCTL_USER=" + LabUsers.OWN + " ETCDCTL_PASSWORD=\"$(cat "
                        + users.passwordFile(LabUsers.OWN) + ")\"");
            }
            commands.add(etcdctl() + " put greeting hello");
            commands.add(etcdctl() + " get greeting");
            commands.add(curl(users) + network.url(LabPort.GATEWAY_REST).resolve("/v1/kv/greeting"));
            commands.add(understudy() + " cluster status --timeout 10s --config "
                    + directory.path().resolve("core/cluster.yaml"));
            commands.add(understudy() + " mirror verify --mirror dr --config "
                    + directory.path().resolve("mirror/mirror.yaml"));
            commands.add(
                    takeOver(users) + understudy() + " mirror switchover --dry-run --allow-loss --mirror dr --config "
                            + directory.path().resolve("mirror/mirror.yaml"));
            return commands;
        }

        private String etcdctl() {
            TlsFiles own = network.files(LabUsers.OWN);
            String program = programs.etcdctl() + " --endpoints=";
            return own == null
                    ? program + network.address(LabPort.GATEWAY)
                    : program + network.url(LabPort.GATEWAY) + " --cacert=" + own.trusted() + " --cert="
                            + own.certificate() + " --key=" + own.key();
        }

        private String curl(@Nullable LabUsers users) {
            TlsFiles own = network.files(LabUsers.OWN);
            String secured = own == null
                    ? ""
                    : "--cacert " + own.trusted() + " --cert " + own.certificate() + " --key " + own.key() + " ";
            return "curl -s " + secured + (users == null ? "" : "--netrc-file " + users.netrc() + " ");
        }

        /** A takeover writes keys that no user of a mirror may write. */
        private static String takeOver(@Nullable LabUsers users) {
            if (users == null) {
                return "";
            }
            String root = LabUsers.ROOT + ":$(cat " + users.passwordFile(LabUsers.ROOT) + ")";
            return "UNDERSTUDY_SOURCE_USER=\"" + root + "\" UNDERSTUDY_TARGET_USER=\"" + root + "\" ";
        }

        private static String understudy() {
            String home = System.getProperty("understudy.home");
            return home == null
                    ? "understudy"
                    : Path.of(home, "bin", "understudy").toString();
        }
    }
}
