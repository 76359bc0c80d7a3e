package io.understudy.cluster.machine;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Start parameters of etcd: its flags, in order. The same settings can be given as variables ({@code embed/config} of
 * etcd: {@code --data-dir} is {@code ETCD_DATA_DIR}).
 */
record EtcdFlags(Map<String, String> values) {

    static final String DATA_DIRECTORY = "--data-dir=";

    /** Flag since etcd 3.6. */
    private static final String MAX_LEARNERS = "max-learners";

    private static final Pattern MAX_LEARNERS_FLAG = Pattern.compile("(?m)^--?max-learners[=\n](.*)$");

    private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|\\[.*]|localhost");

    EtcdFlags {
        values = new LinkedHashMap<>(values);
    }

    /** Returns the flags of the first members of a new cluster. */
    static EtcdFlags founding(MachineSettings machine, String initialCluster, String token) {
        EtcdFlags flags = of(machine);
        flags.values.put("initial-cluster", initialCluster);
        flags.values.put("initial-cluster-token", token);
        flags.values.put("initial-cluster-state", "new");
        return flags.with(machine.arguments());
    }

    /** Returns the flags of a member that joins. */
    static EtcdFlags joining(MachineSettings machine, String initialCluster) {
        EtcdFlags flags = of(machine);
        flags.values.put("initial-cluster", initialCluster);
        flags.values.put("initial-cluster-state", "existing");
        return flags.with(machine.arguments());
    }

    /** Returns the flags of a member with data, which includes the member list. */
    static EtcdFlags resuming(MachineSettings machine) {
        EtcdFlags flags = of(machine);
        // Without its data, it must not start as the first member of a new cluster.
        flags.values.put("initial-cluster-state", "existing");
        return flags.with(machine.arguments());
    }

    private static EtcdFlags of(MachineSettings machine) {
        MemberSpec member = machine.member();
        EtcdFlags flags = new EtcdFlags(Map.of());
        flags.values.put("name", member.name());
        flags.values.put("data-dir", machine.dataDirectory().toString());
        flags.values.put(
                "listen-client-urls",
                joined(machine.listenClientUrls().orElseGet(() -> listeningAt(member.clientUrls()))));
        flags.values.put("advertise-client-urls", joined(member.clientUrls()));
        flags.values.put(
                "listen-peer-urls", joined(machine.listenPeerUrls().orElseGet(() -> listeningAt(member.peerUrls()))));
        flags.values.put("initial-advertise-peer-urls", joined(member.peerUrls()));
        return flags;
    }

    private EtcdFlags with(List<String> arguments) {
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            values.put(argument.substring(2, equals), argument.substring(equals + 1));
        }
        return this;
    }

    /** Returns addresses to listen at: etcd rejects a host name. */
    private static List<URI> listeningAt(List<URI> urls) {
        return urls.stream()
                .map(url -> ADDRESS.matcher(url.getHost()).matches()
                        ? url
                        : URI.create(url.getScheme() + "://0.0.0.0:" + url.getPort()))
                .distinct()
                .toList();
    }

    private static String joined(List<URI> urls) {
        return urls.stream().map(URI::toString).collect(Collectors.joining(","));
    }

    /** Returns the arguments, without program and {@link #environment}. */
    List<String> arguments() {
        return values.entrySet().stream()
                .filter(flag -> !flag.getKey().equals(MAX_LEARNERS))
                .map(flag -> "--" + flag.getKey() + "=" + flag.getValue())
                .toList();
    }

    /** Returns flags as variables, which older releases ignore instead of rejecting the flag. */
    Map<String, String> environment() {
        String limit = values.get(MAX_LEARNERS);
        return limit == null ? Map.of() : Map.of(variable(MAX_LEARNERS), limit);
    }

    /** Returns all flags as variables, a line each, in the form of systemd's environment files. */
    List<String> variables() {
        return values.entrySet().stream()
                .map(flag -> variable(flag.getKey()) + "=\""
                        + flag.getValue().replace("\\", "\\\\").replace("\"", "\\\"") + "\"")
                .toList();
    }

    /**
     * Returns the limit of learners of a running process: flags have precedence, and a configuration file replaces both.
     *
     * @param process its directory in {@code /proc}
     * @return empty if unknown
     */
    static Optional<String> maxLearners(Path process) {
        List<String> arguments = parts(process.resolve("cmdline"));
        List<String> variables = parts(process.resolve("environ"));
        if (arguments.isEmpty()
                || variables.isEmpty()
                || arguments.stream().anyMatch(argument -> argument.matches("--?config-file(=.*)?"))
                || variables.stream().anyMatch(variable -> variable.startsWith("ETCD_CONFIG_FILE="))) {
            return Optional.empty();
        }
        Matcher flag = MAX_LEARNERS_FLAG.matcher(String.join("\n", arguments));
        if (flag.find()) {
            return Optional.of(flag.group(1));
        }
        String variable = variable(MAX_LEARNERS) + "=";
        return Optional.of(variables.stream()
                .filter(each -> each.startsWith(variable) && each.length() > variable.length())
                .findFirst()
                .map(each -> each.substring(variable.length()))
                .orElse("1"));
    }

    /** Returns the parts of a file; none if it is not readable. */
    private static List<String> parts(Path file) {
        try {
            return Stream.of(Files.readString(file, StandardCharsets.ISO_8859_1).split("\0", -1))
                    .filter(part -> !part.isEmpty())
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static String variable(String flag) {
        return "ETCD_" + flag.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
