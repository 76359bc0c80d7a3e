package io.understudy.cli;

import io.understudy.mirror.status.MirrorLine;
import io.understudy.mirror.status.StatusClient;
import io.understudy.report.TextTable;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy mirror status}: how the mirrors of a running process stand. */
@Command(
        name = "status",
        description = "Show the state of the mirrors of a running process.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:every mirror is synced or standby",
            "1:a mirror is in another state, such as conflict, or lacks permissions for a take-over, or no response",
            "2:usage error"
        })
final class MirrorStatusCommand implements Callable<Integer> {

    private static final URI LOCAL = URI.create("http://127.0.0.1:8081");

    @Option(
            names = "--url",
            converter = UrlFlag.class,
            paramLabel = "URL",
            description = "Status URL of the process (default: http://127.0.0.1:8081).")
    private URI url;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration file (YAML) of a local process; its status.listen is queried.")
    private Path file;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Override one setting. Repeatable.")
    private final Map<String, String> values = new LinkedHashMap<>();

    @Mixin
    private TlsFlags tls;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        String status = new StatusClient(address(), tls.files(spec.commandLine())).status();
        List<MirrorLine> mirrors = StatusClient.lines(status);
        PrintWriter out = spec.commandLine().getOut();
        if (output == OutputForm.JSON) {
            out.print(status);
        } else {
            lines(mirrors).forEach(out::println);
        }
        out.flush();
        boolean healthy = !mirrors.isEmpty()
                && mirrors.stream().allMatch(mirror -> mirror.isReady() && mirror.isTakeOverPermitted());
        return healthy ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private URI address() {
        if (url != null && file != null) {
            throw new ParameterException(spec.commandLine(), "--url and --config are mutually exclusive");
        }
        if (file == null && !values.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--set requires --config");
        }
        if (file == null) {
            return url == null ? LOCAL : url;
        }
        return ConfiguredMirror.load(file, values).statusUrl();
    }

    private static List<String> lines(List<MirrorLine> mirrors) {
        TextTable table = new TextTable(
                "MIRROR",
                "STATE",
                "CHECKPOINT",
                "BEHIND",
                "LAG MS",
                "CHANGES/S",
                "DIFFERING",
                "SOURCE",
                "TARGET",
                "REASON");
        for (MirrorLine mirror : mirrors) {
            table.row(
                    mirror.name(),
                    mirror.state(),
                    mirror.checkpoint(),
                    mirror.lagRevisions(),
                    mirror.lagMillis(),
                    mirror.changesPerSecond(),
                    mirror.differing(),
                    mirror.source(),
                    mirror.target(),
                    mirror.reason());
        }
        List<String> lines = new ArrayList<>(table.lines());
        for (MirrorLine mirror : mirrors) {
            mirror.auth().forEach(line -> lines.add(mirror.name() + " auth: " + line));
            if (!mirror.note().isEmpty()) {
                lines.add(mirror.name() + " take-over: " + mirror.note());
            }
            mirror.warnings().forEach(line -> lines.add(mirror.name() + " warning: " + line));
        }
        return lines;
    }
}
