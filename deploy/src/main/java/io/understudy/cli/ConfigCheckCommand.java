package io.understudy.cli;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.EtcdCluster;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.SourceSettings;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.takeover.TakeOver;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy config check}: all that is wrong with a configuration file, without starting anything. */
@Command(
        name = "check",
        description = {
            "Validate a configuration file and list all problems.",
            "Applies UNDERSTUDY_... variables as the process does. Starts nothing; opens connections only with"
                    + " --connect."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:valid", "1:invalid", "2:usage error, or no such file"})
final class ConfigCheckCommand implements Callable<Integer> {

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(20);

    @Parameters(
            paramLabel = "FILE",
            description = "Configuration file (YAML) of a gateway, mirrors or a core cluster. /dev/stdin reads standard"
                    + " input.")
    private Path file;

    @Option(
            names = "--kind",
            paramLabel = "gateway|mirror|cluster",
            description = "Kind of configuration (default: detected from the file).")
    private @Nullable ConfigKind kind;

    @Option(
            names = "--connect",
            description =
                    "Of mirrors between etcd clusters, also check both clusters: primary record, and permissions of"
                            + " the mirror's user; those of other users only if it may read them. Of gateways, check that the source's endpoints respond and name a"
                            + " voting member.")
    private boolean connect;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (connect) {
            // Before anything is logged.
            LogFile.use(LogFile.temporary());
        }
        if (!Files.exists(file) || Files.isDirectory(file)) {
            throw new ParameterException(spec.commandLine(), file + ": no such file");
        }
        if (Files.isRegularFile(file)) {
            return check(file);
        }
        // A pipe is read once, and the file several times.
        Path copy = Files.createTempFile("understudy", ".yaml");
        try (InputStream content = Files.newInputStream(file)) {
            var unused = Files.copy(content, copy, StandardCopyOption.REPLACE_EXISTING);
            return check(copy);
        } finally {
            Files.delete(copy);
        }
    }

    private static List<String> clusterProblems(Path readable) {
        List<String> problems = new ArrayList<>();
        for (MirrorSettings.Mirror mirror :
                ConfiguredMirror.load(readable, Map.of()).mirrors()) {
            if (mirror.reversed().isPresent()) {
                try (TakeOver clusters = new TakeOver(mirror, null, null, PATIENCE)) {
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
                late = System.nanoTime() - began > PATIENCE.toNanos();
                ClusterView view = source.view();
                known = !view.members().isEmpty() && view.unidentified().isEmpty();
                String outage = source.unreachable();
                if (outage != null) {
                    return List.of(outage);
                }
            }
            return source.view().members().isEmpty()
                    ? List.of("source.endpoints: no response within " + PATIENCE.toSeconds() + " s from "
                            + etcd.cluster().endpoints())
                    : source.watchProblem().stream().toList();
        }
    }

    /** @param readable what is in the file */
    private int check(Path readable) {
        ConfigKind checked = kind == null ? ConfigKind.of(readable) : kind;
        if (connect && checked == ConfigKind.CLUSTER) {
            throw new ParameterException(
                    spec.commandLine(), "--connect requires a configuration of a gateway or mirrors");
        }
        List<String> problems = new ArrayList<>(checked.problems(readable, System.getenv()).stream()
                .map(problem -> problem.replace(readable.toString(), file.toString()))
                .toList());
        if (connect && problems.isEmpty()) {
            problems.addAll(checked == ConfigKind.GATEWAY ? sourceProblems(readable) : clusterProblems(readable));
        }
        PrintWriter out = spec.commandLine().getOut();
        problems.forEach(out::println);
        if (problems.isEmpty()) {
            out.println("ok: " + file + " configures a " + checked.name().toLowerCase(Locale.ROOT));
        }
        out.flush();
        return problems.isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
