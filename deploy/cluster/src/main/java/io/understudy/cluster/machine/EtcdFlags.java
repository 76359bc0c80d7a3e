package io.understudy.cluster.machine;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How etcd is to be started: its flags, in order. The same settings can be given as variables ({@code embed/config} of
 * etcd: {@code --data-dir} is {@code ETCD_DATA_DIR}).
 */
record EtcdFlags(Map<String, String> values) {

    static final String DATA_DIRECTORY = "--data-dir=";

    /** Since etcd 3.6. */
    private static final String MAX_LEARNERS = "max-learners";

    private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|\\[.*]|localhost");

    EtcdFlags {
        values = new LinkedHashMap<>(values);
    }

    /** For the first members of a cluster that is not there yet. */
    static EtcdFlags founding(MachineSettings machine, String initialCluster, String token) {
        EtcdFlags flags = of(machine);
        flags.values.put("initial-cluster", initialCluster);
        flags.values.put("initial-cluster-token", token);
        flags.values.put("initial-cluster-state", "new");
        return flags.with(machine.arguments());
    }

    /** For one that the cluster expects. */
    static EtcdFlags joining(MachineSettings machine, String initialCluster) {
        EtcdFlags flags = of(machine);
        flags.values.put("initial-cluster", initialCluster);
        flags.values.put("initial-cluster-state", "existing");
        return flags.with(machine.arguments());
    }

    /** Returns the flags of a member with data, which includes the member list. */
    static EtcdFlags resuming(MachineSettings machine) {
        EtcdFlags flags = of(machine);
        // Should its data be gone, it must not take itself for the first of a new cluster.
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

    /** etcd refuses to listen at a name. */
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

    /** As arguments, program left out, and without {@link #environment}. */
    List<String> arguments() {
        return values.entrySet().stream()
                .filter(flag -> !flag.getKey().equals(MAX_LEARNERS))
                .map(flag -> "--" + flag.getKey() + "=" + flag.getValue())
                .toList();
    }

    /** Flags that older releases reject on the command line and ignore, with a warning, as variables. */
    Map<String, String> environment() {
        String limit = values.get(MAX_LEARNERS);
        return limit == null ? Map.of() : Map.of(variable(MAX_LEARNERS), limit);
    }

    /** As variables, a line each, in the form of systemd's environment files. */
    List<String> variables() {
        return values.entrySet().stream()
                .map(flag -> variable(flag.getKey()) + "=\""
                        + flag.getValue().replace("\\", "\\\\").replace("\"", "\\\"") + "\"")
                .toList();
    }

    private static String variable(String flag) {
        return "ETCD_" + flag.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
