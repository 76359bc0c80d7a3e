package io.understudy.cluster.machine;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.etcd.Endpoint;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A place where a member runs or may run.
 *
 * @param member the member that has or would have this place
 * @param listenPeerUrls where it listens for the others, if not at its peer URLs
 * @param listenClientUrls where it listens for clients, if not at its client URLs
 * @param dataDirectory what etcd calls {@code --data-dir}
 * @param program the server, if not the one that is found on this machine
 * @param log where a local process' output goes
 * @param unit its systemd unit
 * @param environmentFile what the unit reads etcd's settings from, all of it written by us
 * @param joinBytesPerSecond of the cluster's data that it takes at most while it joins, unless who starts it is someone else
 * @param arguments more of etcd's flags, each as {@code --flag=value}; none of them secret
 */
public record MachineSettings(
        MemberSpec member,
        ProcessKind process,
        Optional<List<URI>> listenPeerUrls,
        Optional<List<URI>> listenClientUrls,
        Path dataDirectory,
        Optional<Path> program,
        Path log,
        String unit,
        Path environmentFile,
        long joinBytesPerSecond,
        List<String> arguments) {

    private static final Pattern ARGUMENT = Pattern.compile("--[a-z0-9-]+=\\S.*");

    /** Who a member is and where its data is: everything here goes by what is configured of that. */
    private static final Set<String> OURS =
            Set.of("name", "data-dir", "wal-dir", "advertise-client-urls", "force-new-cluster", "config-file");

    private static final String MAX_LEARNERS = "--max-learners=";

    /** A leader that sends this to who shares its machine, of two cores, has most of it left for writes. */
    private static final long DEFAULT_JOIN_BYTES_PER_SECOND = 8L << 20;

    private static final Setting<List<URI>> PEER_URLS = Setting.uris(
                    "peerUrls", "Peer URLs of the member (--initial-advertise-peer-urls).")
            .checkedBy(MachineSettings::requireEndpoints)
            .example("http://10.0.0.1:2380");
    private static final Setting<List<URI>> CLIENT_URLS = Setting.uris(
                    "clientUrls", "Client URLs of the member (--advertise-client-urls).")
            .checkedBy(MachineSettings::requireEndpoints)
            .example("http://10.0.0.1:2379");
    private static final Setting<List<URI>> LISTEN_PEER_URLS = Setting.uris(
                    "listenPeerUrls",
                    "Listen URLs for peers. Default: peerUrls, or all interfaces if these have a host name.")
            .optionally()
            .checkedBy(MachineSettings::requireEndpoints)
            .example("http://0.0.0.0:2380");
    private static final Setting<List<URI>> LISTEN_CLIENT_URLS = Setting.uris(
                    "listenClientUrls",
                    "Listen URLs for clients. Default: clientUrls, or all interfaces if these have a host name.")
            .optionally()
            .checkedBy(MachineSettings::requireEndpoints)
            .example("http://0.0.0.0:2379");
    private static final Setting<ProcessKind> PROCESS = Setting.choice(
                    "process",
                    ProcessKind.class,
                    "How the member is started and stopped. local: as a detached process on this machine; systemd: with"
                            + " systemctl on this machine; manual: by the operator, following printed instructions.")
            .defaultsTo(ProcessKind.MANUAL);
    private static final Setting<Path> DATA_DIRECTORY = Setting.path(
                    "dataDirectory",
                    "Data directory (--data-dir). A new join renames existing data and never deletes it.")
            .checkedBy(MachineSettings::requireParent)
            .example("/var/lib/etcd/voter-1");
    private static final Setting<Path> PROGRAM = Setting.path(
                    "program", "Path of the etcd server. Default: the one found on this machine.")
            .optionally()
            .example("/usr/bin/etcd");
    private static final Setting<Path> LOG = Setting.path(
                    "log", "local: log file of etcd. Default: dataDirectory with the suffix .log.")
            .optionally()
            .example("/var/log/etcd/voter-1.log");
    private static final Setting<String> UNIT =
            Setting.text("unit", "systemd: unit of the member.").defaultsTo("etcd.service");
    private static final Setting<Path> ENVIRONMENT_FILE = Setting.path(
                    "environmentFile", "systemd: EnvironmentFile of the unit. Every start overwrites it.")
            .defaultsTo(Path.of("/etc/default/etcd"));
    private static final Setting<Long> JOIN_BYTES_PER_SECOND = Setting.bytes(
                    "joinBytesPerSecond",
                    "local, systemd: rate limit for the snapshot when the member joins, to limit the effect on writes."
                            + " The rate doubles every two minutes.")
            .defaultsTo(DEFAULT_JOIN_BYTES_PER_SECOND)
            .between(1L << 20, 16L << 30);
    private static final Setting<List<String>> ARGUMENTS = Setting.texts(
                    "arguments",
                    "Additional etcd flags, each as --flag=value. All users of the machine can read them: no secrets.")
            .optionally()
            .checkedBy(MachineSettings::requireFlags)
            .example("--quota-backend-bytes=8589934592");

    /** As rows relative to their group. */
    public static final List<Setting<?>> ROWS = List.of(
            PEER_URLS,
            CLIENT_URLS,
            LISTEN_PEER_URLS,
            LISTEN_CLIENT_URLS,
            PROCESS,
            DATA_DIRECTORY,
            PROGRAM,
            LOG,
            UNIT,
            ENVIRONMENT_FILE,
            JOIN_BYTES_PER_SECOND,
            ARGUMENTS);

    public MachineSettings {
        listenPeerUrls = listenPeerUrls.map(List::copyOf);
        listenClientUrls = listenClientUrls.map(List::copyOf);
        dataDirectory = dataDirectory.toAbsolutePath();
        program = program.map(Path::toAbsolutePath);
        log = log.toAbsolutePath();
        arguments = List.copyOf(arguments);
        requireParent(dataDirectory);
        requireFlags(arguments);
    }

    /** What {@link #ROWS} say of the member of that name. */
    public static MachineSettings from(String name, Configuration group) {
        Path data = group.get(DATA_DIRECTORY);
        return new MachineSettings(
                new MemberSpec(name, group.get(PEER_URLS), group.get(CLIENT_URLS)),
                group.get(PROCESS),
                group.find(LISTEN_PEER_URLS),
                group.find(LISTEN_CLIENT_URLS),
                data,
                group.find(PROGRAM),
                group.find(LOG).orElseGet(() -> logBeside(data)),
                group.get(UNIT),
                group.get(ENVIRONMENT_FILE),
                group.get(JOIN_BYTES_PER_SECOND),
                group.find(ARGUMENTS).orElse(List.of()));
    }

    /** Defaults for everything else. */
    public static MachineSettings of(MemberSpec member, ProcessKind process, Path dataDirectory) {
        return new MachineSettings(
                member,
                process,
                Optional.empty(),
                Optional.empty(),
                dataDirectory,
                Optional.empty(),
                logBeside(dataDirectory),
                "etcd.service",
                Path.of("/etc/default/etcd"),
                DEFAULT_JOIN_BYTES_PER_SECOND,
                List.of());
    }

    public MachineSettings withLog(Path newLog) {
        return new MachineSettings(
                member,
                process,
                listenPeerUrls,
                listenClientUrls,
                dataDirectory,
                program,
                newLog,
                unit,
                environmentFile,
                joinBytesPerSecond,
                arguments);
    }

    /** The same server as another member, as a process of this machine. */
    public MachineSettings withMember(MemberSpec newMember, Path newDataDirectory) {
        return new MachineSettings(
                newMember,
                ProcessKind.LOCAL,
                Optional.empty(),
                Optional.empty(),
                newDataDirectory,
                program,
                logBeside(newDataDirectory),
                unit,
                environmentFile,
                joinBytesPerSecond,
                arguments);
    }

    public MachineSettings withJoinBytesPerSecond(long newRate) {
        return new MachineSettings(
                member,
                process,
                listenPeerUrls,
                listenClientUrls,
                dataDirectory,
                program,
                log,
                unit,
                environmentFile,
                newRate,
                arguments);
    }

    public MachineSettings withArguments(List<String> newArguments) {
        return new MachineSettings(
                member,
                process,
                listenPeerUrls,
                listenClientUrls,
                dataDirectory,
                program,
                log,
                unit,
                environmentFile,
                joinBytesPerSecond,
                newArguments);
    }

    /** The same with another server. */
    public MachineSettings withProgram(Path newProgram) {
        return new MachineSettings(
                member,
                process,
                listenPeerUrls,
                listenClientUrls,
                dataDirectory,
                Optional.of(newProgram),
                log,
                unit,
                environmentFile,
                joinBytesPerSecond,
                arguments);
    }

    /** The same with this limit of learners, unless its arguments have one. */
    public MachineSettings withMaxLearners(int limit) {
        return limit == 1 || maxLearners().isPresent()
                ? this
                : withArguments(Stream.concat(arguments.stream(), Stream.of(MAX_LEARNERS + limit))
                        .toList());
    }

    /** The limit of learners in its arguments. */
    public Optional<String> maxLearners() {
        return arguments.stream()
                .filter(argument -> argument.startsWith(MAX_LEARNERS))
                .map(argument -> argument.substring(MAX_LEARNERS.length()))
                .findFirst();
    }

    public String name() {
        return member.name();
    }

    /** What no other member may have as well, in words. */
    public List<String> owns() {
        List<String> owned = new ArrayList<>();
        member.peerUrls().forEach(url -> owned.add("peer URL " + url));
        member.clientUrls().forEach(url -> owned.add("client URL " + url));
        if (process != ProcessKind.MANUAL) {
            owned.add("data directory " + dataDirectory);
        }
        if (process == ProcessKind.SYSTEMD) {
            owned.add("unit " + unit);
            owned.add("environment file " + environmentFile);
        }
        return owned;
    }

    private static Path logBeside(Path dataDirectory) {
        return dataDirectory.resolveSibling(dataDirectory.getFileName() + ".log");
    }

    private static void requireEndpoints(List<URI> urls) {
        urls.forEach(Endpoint::of);
    }

    private static void requireParent(Path dataDirectory) {
        if (dataDirectory.toAbsolutePath().getParent() == null) {
            throw new IllegalArgumentException("must not be the root directory");
        }
    }

    private static void requireFlags(List<String> arguments) {
        for (String argument : arguments) {
            if (!ARGUMENT.matcher(argument).matches()) {
                throw new IllegalArgumentException("has " + argument + ", which is not --flag=value");
            }
            String flag = argument.substring(2, argument.indexOf('='));
            if (OURS.contains(flag) || flag.startsWith("initial-") || flag.startsWith("listen-")) {
                throw new IllegalArgumentException("has " + argument + ", which Understudy sets; remove it");
            }
        }
    }
}
