package io.understudy.local.etcd;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.certificate.ServerTls;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerHost;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Describes a cluster. Voters come first in every list, then learners. */
public final class LocalEtcdBuilder {

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,40}");

    private String name = "etcd";
    private int voters = 1;
    private int learners;
    private @Nullable Path dataDirectory;
    private List<Integer> clientPorts = List.of();
    private List<Integer> peerPorts = List.of();
    private boolean behindProxies;
    private boolean fsync = true;
    private boolean strictReconfiguration = true;
    private @Nullable ServerTls tls;
    private @Nullable String rootPassword;
    private List<String> extraArguments = List.of();
    private ServerHost host = new LocalProcesses();
    private @Nullable EtcdBinaries binaries;

    LocalEtcdBuilder() {}

    /** Name of the cluster, and prefix of its members' names; lower-case letters, digits and hyphens. */
    public LocalEtcdBuilder name(String value) {
        if (!NAME.matcher(value).matches()) {
            throw new IllegalArgumentException("cluster name must match " + NAME + ", is '" + value + "'");
        }
        name = value;
        return this;
    }

    /** Number of voters, at least 1 (default). */
    public LocalEtcdBuilder voters(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("a cluster requires at least 1 voting member, requested: " + value);
        }
        voters = value;
        return this;
    }

    /** Number of learners (default none); {@link #build} rejects more than the version allows. */
    public LocalEtcdBuilder learners(int value) {
        if (value < 0) {
            throw new IllegalArgumentException("learners must not be negative, requested: " + value);
        }
        learners = value;
        return this;
    }

    /** Folder for data and logs; a cluster with data there continues. Required. */
    public LocalEtcdBuilder dataDirectory(Path value) {
        dataDirectory = value.toAbsolutePath();
        return this;
    }

    /** Client ports, one per member, voters first; by default free ones. */
    public LocalEtcdBuilder clientPorts(int... ports) {
        clientPorts = Arrays.stream(ports).boxed().toList();
        return this;
    }

    /** Peer ports, one per member, voters first; by default free ones. */
    public LocalEtcdBuilder peerPorts(int... ports) {
        peerPorts = Arrays.stream(ports).boxed().toList();
        return this;
    }

    /**
     * Puts two {@link io.understudy.local.fault.FaultProxy}s before every member and advertises only these. One is for
     * clients, one for the other members. Partitions require it.
     */
    public LocalEtcdBuilder behindProxies() {
        behindProxies = true;
        return this;
    }

    /** Whether members fsync (default); off is faster and only fit for tests. */
    public LocalEtcdBuilder fsync(boolean value) {
        fsync = value;
        return this;
    }

    /**
     * Value of {@code --strict-reconfig-check} (default true). The check rejects every membership change until members
     * have been connected for five seconds, which delays the first start of several voters with a learner.
     */
    public LocalEtcdBuilder strictReconfiguration(boolean value) {
        strictReconfiguration = value;
        return this;
    }

    /** Enables mutual TLS for clients and peers; by default plain text. */
    public LocalEtcdBuilder tls(@Nullable ServerTls value) {
        tls = value;
        return this;
    }

    /** Root's password, if the data has authentication enabled; by default it has not. */
    public LocalEtcdBuilder rootPassword(@Nullable String value) {
        rootPassword = value;
        return this;
    }

    /** Additional command line arguments for every member. */
    public LocalEtcdBuilder extraArguments(String... arguments) {
        extraArguments = List.of(arguments);
        return this;
    }

    /** Host of the members; by default processes of this machine. */
    public LocalEtcdBuilder host(ServerHost value) {
        host = value;
        return this;
    }

    /** The programs to use; by default those that {@link EtcdBinaries#find()} finds. */
    public LocalEtcdBuilder binaries(EtcdBinaries value) {
        binaries = value;
        return this;
    }

    /**
     * The cluster, not started.
     *
     * @throws IllegalStateException something required is missing, or parts contradict each other
     */
    public LocalEtcd build() {
        if (dataDirectory == null) {
            throw new IllegalStateException("cluster " + name + " requires a data directory");
        }
        requireOnePerMember("client", clientPorts);
        requireOnePerMember("peer", peerPorts);
        EtcdBinaries programs = binaries == null ? EtcdBinaries.find() : binaries;
        EtcdLimits limits = EtcdLimits.of(programs.version());
        if (learners > limits.maxLearners()) {
            throw new IllegalStateException("cluster " + name + ": etcd " + programs.version() + " allows at most "
                    + limits.maxLearners() + " learner(s), requested: " + learners);
        }
        EtcdOptions options = new EtcdOptions(name, fsync, strictReconfiguration, tls, extraArguments);
        EtcdApi api = new EtcdApi(tls);
        Roster roster = new Roster(api);
        MemberStarter starter =
                new MemberStarter(roster, api, host, programs.etcd(), new EtcdArguments(options, limits));
        LocalEtcd cluster = new LocalEtcd(
                name,
                options.token(),
                dataDirectory,
                behindProxies,
                tls != null,
                api,
                roster,
                starter,
                new EtcdTools(programs, tls));
        if (rootPassword != null) {
            cluster.authenticateAs(rootPassword);
        }
        for (int index = 0; index < voters + learners; index++) {
            cluster.declare(index >= voters, port(clientPorts, index), port(peerPorts, index));
        }
        return cluster;
    }

    private void requireOnePerMember(String kind, List<Integer> ports) {
        if (!ports.isEmpty() && ports.size() != voters + learners) {
            throw new IllegalStateException("cluster " + name + " has " + (voters + learners) + " members but "
                    + ports.size() + " " + kind + " ports: " + ports);
        }
    }

    private static @Nullable Integer port(List<Integer> ports, int index) {
        return ports.isEmpty() ? null : ports.get(index);
    }

    /**
     * Differences between versions of etcd.
     *
     * @param maxLearners learners that a cluster may have at once
     * @param learnerArguments arguments that raise it to that number
     */
    record EtcdLimits(int maxLearners, List<String> learnerArguments) {

        private static final ProgramVersion MAX_LEARNERS_FLAG = new ProgramVersion(3, 6, 0);
        private static final int RAISED = 8;

        static EtcdLimits of(ProgramVersion version) {
            return version.isAtLeast(MAX_LEARNERS_FLAG)
                    ? new EtcdLimits(RAISED, List.of("--max-learners=" + RAISED))
                    : new EtcdLimits(1, List.of());
        }
    }

    /**
     * Options shared by all members of a cluster.
     *
     * @param token initial cluster token; part of the cluster id
     * @param fsync whether members write through to the disk; without, a crash of the machine loses data, one of the
     *     process does not
     * @param strictReconfiguration etcd's own check that a membership change is survivable, which also refuses every change
     *     in the first five seconds
     * @param tls for clients and between members; null for plain text
     * @param extraArguments given to each member
     */
    record EtcdOptions(
            String token,
            boolean fsync,
            boolean strictReconfiguration,
            @Nullable ServerTls tls,
            List<String> extraArguments) {

        EtcdOptions {
            extraArguments = List.copyOf(extraArguments);
        }
    }
}
