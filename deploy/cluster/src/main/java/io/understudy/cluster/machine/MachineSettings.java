package io.understudy.cluster.machine;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.config.Setting;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A place where a member runs or may run.
 *
 * @param listenPeerUrls where it listens for the others, if not at its peer URLs
 * @param listenClientUrls where it listens for clients, if not at its client URLs
 * @param program the server, if not the one that is found on this machine
 */
public record MachineSettings(
        MemberSpec member,

        @Configured(
                value =
                        "How the member is started and stopped. local: as a detached process on this machine; systemd: with"
                                + " systemctl on this machine; manual: by the operator, following printed instructions.",
                byDefault = "manual")
        ProcessKind process,

        @Configured(
                value = "Listen URLs for peers. Default: peerUrls, or all interfaces if these have a host name.",
                check = MemberSpec.MemberUrls.class,
                example = "http://0.0.0.0:2380")
        Optional<List<URI>> listenPeerUrls,

        @Configured(
                value = "Listen URLs for clients. Default: clientUrls, or all interfaces if these have a host name.",
                check = MemberSpec.MemberUrls.class,
                example = "http://0.0.0.0:2379")
        Optional<List<URI>> listenClientUrls,

        @Configured(
                value = "Data directory (--data-dir). A new join renames existing data and never deletes it.",
                check = NotRoot.class,
                example = "/var/lib/etcd/voter-1")
        Path dataDirectory,

        @Configured(
                value = "Path of the etcd server. Default: the one found on this machine.",
                example = "/usr/bin/etcd")
        Optional<Path> program,

        @Configured(
                value = "local: log file of etcd. Default: dataDirectory with the suffix .log.",
                optional = true,
                example = "/var/log/etcd/voter-1.log")
        Path log,

        @Configured(value = "systemd: unit of the member.", byDefault = "etcd.service")
        String unit,

        @Configured(
                value = "systemd: EnvironmentFile of the unit. Every start overwrites it.",
                byDefault = "/etc/default/etcd")
        Path environmentFile,

        @Configured(
                value =
                        "local, systemd: rate limit for the snapshot when the member joins, to limit the effect on writes."
                                + " The rate doubles every two minutes.",
                byDefault = "8MiB",
                range = "1MiB..16GiB",
                bytes = true)
        long joinBytesPerSecond,

        @Configured(
                value =
                        "Additional etcd flags, each as --flag=value. All users of the machine can read them: no secrets.",
                optional = true,
                check = EtcdArguments.class,
                example = "--quota-backend-bytes=8589934592")
        List<String> arguments) {

    /** The settings, relative to their group. */
    public static final List<Setting<?>> ROWS = Binder.rows(MachineSettings.class);

    private static final Pattern ARGUMENT = Pattern.compile("--[a-z0-9-]+=\\S.*");

    /** Arguments that are derived from other settings. */
    private static final Set<String> OURS =
            Set.of("name", "data-dir", "wal-dir", "advertise-client-urls", "force-new-cluster", "config-file");

    private static final String MAX_LEARNERS = "--max-learners=";

    public MachineSettings {
        listenPeerUrls = listenPeerUrls.map(List::copyOf);
        listenClientUrls = listenClientUrls.map(List::copyOf);
        dataDirectory = dataDirectory.toAbsolutePath();
        program = program.map(Path::toAbsolutePath);
        log = log.toAbsolutePath();
        arguments = List.copyOf(arguments);
        new NotRoot().accept(dataDirectory);
        new EtcdArguments().accept(arguments);
    }

    /** The settings of the member of that name. */
    public static MachineSettings from(String name, Configuration group) {
        Path data = (Path) group.get(Binder.row(MachineSettings.class, "dataDirectory"));
        MemberSpec member = group.bind(MemberSpec.class, Map.of("name", name));
        return group.bind(MachineSettings.class, Map.of("member", member, "log", logBeside(data)));
    }

    /** Defaults for everything else. */
    public static MachineSettings of(MemberSpec member, ProcessKind process, Path dataDirectory) {
        Map<String, ?> given =
                Map.of("member", member, "dataDirectory", dataDirectory, "log", logBeside(dataDirectory));
        return Binder.with(Binder.defaults(MachineSettings.class, given), process);
    }

    public MachineSettings withLog(Path newLog) {
        return Binder.with(this, "log", newLog);
    }

    /** Returns settings for another member with the same server, as a process of this machine. */
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
        return Binder.with(this, "joinBytesPerSecond", newRate);
    }

    public MachineSettings withArguments(List<String> newArguments) {
        return Binder.with(this, "arguments", newArguments);
    }

    /** Returns these settings with another server. */
    public MachineSettings withProgram(Path newProgram) {
        return Binder.with(this, "program", Optional.of(newProgram));
    }

    /** Returns these settings with this limit of learners, unless the arguments have one. */
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

    /** Returns where the member listens: with a host name, at the same port of all addresses. */
    public List<URI> listenUrls() {
        return Stream.of(listenPeerUrls.orElse(member.peerUrls()), listenClientUrls.orElse(member.clientUrls()))
                .flatMap(List::stream)
                .toList();
    }

    /** Returns the files and directories that a start of the member makes, if they are absent. */
    public List<Path> files() {
        Path lock = DirectoryLock.file(dataDirectory);
        return switch (process) {
            case LOCAL -> List.of(dataDirectory, lock, log);
            case SYSTEMD -> List.of(dataDirectory, lock, environmentFile);
            case MANUAL -> List.of();
        };
    }

    /** Returns descriptions of the properties that must be unique per member. */
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

    /** Requires a parent of the data directory, into which directories are renamed. */
    static final class NotRoot implements Consumer<Path> {
        @Override
        public void accept(Path directory) {
            if (directory.toAbsolutePath().getParent() == null) {
                throw new IllegalArgumentException("must not be the root directory");
            }
        }
    }

    /** The condition on additional flags of etcd. */
    static final class EtcdArguments implements Consumer<List<String>> {
        @Override
        public void accept(List<String> arguments) {
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

    /** The way in which a member is started and stopped. */
    public enum ProcessKind {
        /** As a process of this machine. */
        LOCAL,
        /** By systemd on this machine. */
        SYSTEMD,
        /** By an operator, by printed instructions. */
        MANUAL
    }
}
