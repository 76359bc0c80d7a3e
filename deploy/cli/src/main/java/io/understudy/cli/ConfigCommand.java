package io.understudy.cli;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.SettingsText;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.EtcdCluster;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.SourceSettings;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.takeover.TakeOver;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code understudy config}: validation and reference of configuration files. */
@Command(name = "config", description = "Validate configuration; list settings.")
final class ConfigCommand {

    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(20);

    @Command(
            name = "check",
            description = {
                "Validate configuration files and list all problems.",
                "Applies UNDERSTUDY_... variables as the process does. Starts nothing; opens connections only with"
                        + " --connect."
            },
            exitCodeList = {"0:valid", "1:invalid", "2:usage error, or no such file"})
    int check(
            @Parameters(
                            arity = "1..*",
                            paramLabel = "FILE",
                            description =
                                    "Configuration files (YAML) of gateways, mirrors or core clusters. /dev/stdin reads standard"
                                            + " input.")
                    List<Path> files,
            @Option(
                            names = "--kind",
                            paramLabel = "gateway|mirror|cluster",
                            description = "Kind of configuration (default: detected from each file).")
                    @Nullable ConfigKind kind,
            @Option(
                            names = "--connect",
                            description =
                                    "Of mirrors between etcd clusters, also check both clusters: primary record, and permissions of"
                                            + " the mirror's user; those of other users only if it may read them. Of gateways, check that the source's endpoints respond and name a"
                                            + " voting member.")
                    boolean connect,
            @Mixin Output output)
            throws IOException {
        if (connect) {
            // Before anything is logged.
            LogFile.use(LogFile.temporary());
        }
        for (Path file : files) {
            if (!Files.exists(file) || Files.isDirectory(file)) {
                throw output.usageError(file + ": no such file");
            }
        }
        List<Map<String, Object>> results = new ArrayList<>();
        boolean isValid = true;
        for (Path file : files) {
            Path readable = readable(file);
            try {
                ConfigKind checked = kind == null ? ConfigKind.of(readable) : kind;
                List<String> problems = connect && checked == ConfigKind.CLUSTER
                        ? List.of(file + ": --connect requires a configuration of a gateway or mirrors")
                        : problems(file, readable, checked, connect);
                String name = checked.name().toLowerCase(Locale.ROOT);
                isValid &= problems.isEmpty();
                results.add(Output.cells("file", file.toString(), "kind", name, "problems", problems));
                if (!output.isJson()) {
                    output.lines(problems.isEmpty() ? List.of("ok: " + file + " configures a " + name) : problems);
                }
            } finally {
                if (!readable.equals(file)) {
                    Files.delete(readable);
                }
            }
        }
        if (output.isJson()) {
            output.json(results);
        }
        return isValid ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    /** A pipe is read once, its copy several times. */
    private static Path readable(Path file) throws IOException {
        if (Files.isRegularFile(file)) {
            return file;
        }
        Path copy = Files.createTempFile("understudy", ".yaml");
        try (InputStream content = Files.newInputStream(file)) {
            var unused = Files.copy(content, copy, StandardCopyOption.REPLACE_EXISTING);
        }
        return copy;
    }

    private static List<String> problems(Path file, Path readable, ConfigKind kind, boolean connect) {
        List<String> problems = kind.problems(readable, System.getenv()).stream()
                .map(problem -> problem.replace(readable.toString(), file.toString()))
                .toList();
        if (!connect || !problems.isEmpty()) {
            return problems;
        }
        return kind == ConfigKind.GATEWAY ? sourceProblems(readable) : clusterProblems(readable);
    }

    private static List<String> clusterProblems(Path readable) {
        List<String> problems = new ArrayList<>();
        for (MirrorSettings.Mirror mirror : MirrorFlags.load(readable, Map.of()).mirrors()) {
            if (mirror.reversed().isPresent()) {
                try (TakeOver clusters = new TakeOver(mirror, null, null, RESPONSE_TIMEOUT)) {
                    problems.addAll(clusters.problems());
                }
            }
        }
        return problems;
    }

    private static List<String> sourceProblems(Path readable) {
        if (!(GatewaySettings.load(readable, System.getenv(), Map.of()).source() instanceof SourceSettings.Etcd etcd)) {
            return List.of();
        }
        long began = System.nanoTime();
        try (EtcdCluster source = EtcdCluster.connect(etcd.cluster(), new SimpleMeterRegistry())) {
            boolean known = false;
            boolean late = false;
            while (!known && !late) {
                LockSupport.parkNanos(POLL.toNanos());
                late = System.nanoTime() - began > RESPONSE_TIMEOUT.toNanos();
                ClusterView view = source.view();
                known = !view.members().isEmpty() && view.unidentified().isEmpty();
                String outage = source.unreachable();
                if (outage != null) {
                    return List.of(outage);
                }
            }
            return source.view().members().isEmpty()
                    ? List.of("source.endpoints: no response within " + RESPONSE_TIMEOUT.toSeconds() + " s from "
                            + etcd.cluster().endpoints())
                    : source.watchProblem().stream().toList();
        }
    }

    @Command(
            name = "reference",
            description = "Print all settings with variable, default, allowed values and meaning, as a Markdown table.")
    void reference(
            @Parameters(
                            arity = "0..1",
                            paramLabel = "gateway|mirror|cluster",
                            description = "Kind of configuration (default: all).")
                    @Nullable ConfigKind kind,
            @Mixin Output output) {
        List<ConfigKind> kinds = kind == null ? List.of(ConfigKind.values()) : List.of(kind);
        if (output.isJson()) {
            output.json(kinds.stream().flatMap(ConfigCommand::rows).toList());
            return;
        }
        for (ConfigKind each : kinds) {
            String table = SettingsText.reference(each.settings()).strip();
            output.lines(List.of(
                    kinds.size() > 1 ? "## " + each.name().toLowerCase(Locale.ROOT) + "\n\n" + table + "\n" : table));
        }
    }

    /** Returns the rows of the table of a kind, by heading. */
    private static Stream<Map<String, Object>> rows(ConfigKind kind) {
        List<String[]> rows = SettingsText.reference(kind.settings())
                .lines()
                .map(line -> line.substring(2, line.length() - 2).split("(?<!\\\\) \\| ", -1))
                .toList();
        return rows.stream().skip(2).map(row -> {
            Map<String, Object> cells = Output.cells("kind", kind.name().toLowerCase(Locale.ROOT));
            for (int column = 0; column < row.length; column++) {
                cells.put(
                        rows.get(0)[column], row[column].replaceAll("^`|`$", "").replace("\\|", "|"));
            }
            return cells;
        });
    }
}
