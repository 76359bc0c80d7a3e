package io.understudy.cluster.settings;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.observe.EtcdObserver.FallbackEndpoints;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.shape.Shape.SupervisorSettings;
import io.understudy.cluster.snapshot.SnapshotSettings;
import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdSettings;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A core cluster as its operator declares it, in the file {@code cluster.yaml}.
 *
 * @param machines where its members run or may run; empty if not declared
 * @param shape the declared members
 * @param limits conditions of changes
 * @param endpointsByHand whether flags name the endpoints
 * @param isShapeDeclared whether the configuration has {@code shape.voters}
 */
public record ClusterSettings(
        EtcdSettings cluster,
        List<MachineSettings> machines,
        Shape shape,
        Limits limits,
        SupervisorSettings supervisor,
        SnapshotSettings snapshots,
        boolean endpointsByHand,
        boolean isShapeDeclared) {

    private static final String CLUSTER = "cluster";
    private static final String MACHINES = "machines";
    private static final String SHAPE = "shape";
    private static final String SUPERVISOR = "supervisor";
    private static final String SNAPSHOTS = "snapshots";

    /** All settings. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    Setting.under(CLUSTER, EtcdSettings.ROWS),
                    Setting.under(MACHINES + ".*", MachineSettings.ROWS),
                    Setting.under(SHAPE, Binder.rows(Shape.class)),
                    Setting.under(SHAPE, Binder.rows(Limits.class)),
                    Setting.under(SUPERVISOR, Binder.rows(SupervisorSettings.class)),
                    Setting.under(SNAPSHOTS, Binder.rows(SnapshotSettings.class)))
            .flatMap(List::stream)
            .toList();

    public ClusterSettings {
        machines = List.copyOf(machines);
        requireNothingShared(machines);
        requireConfigured(shape.readReplicas(), machines);
        requireSameLimit(shape, machines);
    }

    /**
     * Reads the configuration and checks it as a whole.
     *
     * @param file null for none
     * @param environment of the process
     * @param flags values by key
     * @throws io.understudy.config.ConfigurationException with all problems
     */
    public static ClusterSettings load(
            @Nullable Path file, Map<String, String> environment, Map<String, String> flags) {
        return from(
                Configuration.load(file, environment, flags, ROWS, (all, report) -> {
                    var unused = from(all, flags);
                }),
                flags);
    }

    private static ClusterSettings from(Configuration all, Map<String, String> flags) {
        Shape shape = all.at(SHAPE).bind(Shape.class);
        return new ClusterSettings(
                EtcdSettings.from("core", all.at(CLUSTER)),
                all.names(MACHINES).stream()
                        .map(name -> MachineSettings.from(name, all.at(MACHINES + "." + name))
                                .withMaxLearners(shape.maxLearners()))
                        .toList(),
                shape,
                all.at(SHAPE).bind(Limits.class),
                all.at(SUPERVISOR).bind(SupervisorSettings.class),
                all.at(SNAPSHOTS).bind(SnapshotSettings.class),
                flags.containsKey(CLUSTER + ".endpoints"),
                Binder.rows(Shape.class).stream()
                        .filter(row -> row.key().equals("voters"))
                        .anyMatch(all.at(SHAPE)::isGiven));
    }

    /** Rejects members that share anything that must be unique, such as a data directory. */
    private static void requireNothingShared(List<MachineSettings> machines) {
        Map<String, String> owners = new HashMap<>();
        for (MachineSettings machine : machines) {
            machine.owns().forEach(owned -> {
                String owner = owners.put(owned, machine.name());
                if (owner != null) {
                    throw new IllegalArgumentException(
                            "machines " + owner + " and " + machine.name() + " have the same " + owned);
                }
            });
        }
    }

    /** Members with different limits accept different learners, and then their member lists differ. */
    private static void requireSameLimit(Shape shape, List<MachineSettings> machines) {
        List<String> limits = machines.stream()
                .map(machine -> machine.maxLearners().orElse("1"))
                .distinct()
                .toList();
        boolean isDeclared = shape.maxLearners() == 1 || limits.equals(List.of(String.valueOf(shape.maxLearners())));
        if (!machines.isEmpty() && (limits.size() > 1 || !isDeclared)) {
            throw new IllegalArgumentException("shape.maxLearners is " + shape.maxLearners()
                    + ", machines.*.arguments have --max-learners=" + String.join(", ", limits)
                    + "; all members need the same limit: remove --max-learners from the arguments");
        }
    }

    /** Returns the limit of learners with which members start, the same for all. */
    public int maxLearners() {
        return machines.stream()
                .flatMap(machine -> machine.maxLearners().stream())
                .filter(limit -> limit.matches("\\d{1,4}"))
                .findFirst()
                .map(Integer::parseInt)
                .orElse(1);
    }

    private static void requireConfigured(Set<String> readReplicas, List<MachineSettings> machines) {
        List<String> names = machines.stream().map(MachineSettings::name).toList();
        if (!names.containsAll(readReplicas)) {
            throw new IllegalArgumentException(
                    "shape.readReplicas is " + readReplicas + "; allowed: names of machines " + names);
        }
    }

    /**
     * Returns the machines' client URLs as fallback endpoints; none if flags name the endpoints. Like the endpoints,
     * all use TLS, or none does.
     */
    public FallbackEndpoints otherwise() {
        List<Endpoint> seeds = cluster.seeds();
        List<Endpoint> others = machines.stream()
                .flatMap(machine -> machine.member().clientUrls().stream())
                .map(Endpoint::of)
                .filter(endpoint -> endpoint.tls() == seeds.get(0).tls() && !seeds.contains(endpoint))
                .distinct()
                .toList();
        return endpointsByHand ? FallbackEndpoints.NOWHERE : FallbackEndpoints.ofMost(others, shape.voters());
    }

    /** Returns the machines for voting members. */
    public List<MachineSettings> votingMachines() {
        return machines.stream()
                .filter(machine -> shape.mayPromote(machine.name()))
                .toList();
    }

    public Optional<MachineSettings> machine(String name) {
        return machines.stream().filter(machine -> machine.name().equals(name)).findFirst();
    }
}
