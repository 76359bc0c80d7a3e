package io.understudy.cli;

import com.fasterxml.jackson.databind.node.NullNode;
import io.understudy.config.Problem;
import io.understudy.config.SettingsText;
import io.understudy.config.Unreadable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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

    private static final Pattern LINE = Pattern.compile(":(\\d+):\\d+");

    @Command(
            name = "check",
            description = {
                "Validate configuration files and list all problems.",
                "Applies UNDERSTUDY_... variables, reads the TLS files and binds the listen addresses, as the process does."
                        + " Starts nothing; opens connections only with --connect.",
                "Run it on the host of the process. Notes on standard error name what cannot be verified."
            },
            exitCodeList = {
                "0:all files are valid",
                "1:a file is invalid; gateway, mirror and cluster exit with 2",
                "2:usage error, or a file cannot be read"
            })
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
                                    "Connect to all clusters. Of mirrors between etcd clusters, also check the primary record, and permissions of"
                                            + " the mirror's user; those of other users only if it may read them. Of sources, check that the endpoints name a"
                                            + " voting member. Of Kafka, only that a broker responds.")
                    boolean connect,
            @Option(
                            names = "--timeout",
                            defaultValue = "5s",
                            paramLabel = "TIME",
                            description =
                                    "Timeout for a cluster to respond, with --connect (default: ${DEFAULT-VALUE}).")
                    Duration timeout,
            @Mixin Output output)
            throws IOException {
        if (connect) {
            // Before anything is logged.
            LogFile.use(LogFile.temporary());
        }
        List<Path> absent =
                files.stream().filter(file -> Flags.unreadable(file) != null).toList();
        if (absent.size() == files.size() && !output.isJson()) {
            throw output.usageError(absent.stream()
                    .map(file -> file + ": " + Flags.unreadable(file))
                    .collect(Collectors.joining("; ")));
        }
        List<Map<String, Object>> results = new ArrayList<>();
        boolean isValid = true;
        boolean isRead = true;
        for (Path file : files) {
            String kindName = "unknown";
            String unread = Flags.unreadable(file);
            List<Problem> problems = List.of();
            List<String> notes = List.of();
            if (unread == null) {
                Path readable = readable(file);
                try {
                    unread = undecodable(readable);
                    if (unread == null) {
                        ConfigKind checked = kind == null ? ConfigKind.of(readable) : kind;
                        kindName = checked.toString();
                        StartChecks start = new StartChecks(readable);
                        problems = problems(
                                file, readable, checked, start, connect ? new ConnectionChecks(timeout) : null);
                        notes = start.notes();
                    }
                } finally {
                    if (!readable.equals(file)) {
                        Files.delete(readable);
                    }
                }
            }
            if (unread != null) {
                isRead = false;
                problems = List.of(new Problem(file.toString(), "", unread));
            }
            isValid &= problems.isEmpty();
            results.add(Output.cells(
                    "file",
                    file.toString(),
                    "kind",
                    kindName,
                    "problems",
                    problems.stream().map(problem -> fields(file, problem)).toList(),
                    "notes",
                    notes));
            notes.forEach(note -> output.note("note: " + file + ": " + note));
            if (!output.isJson()) {
                output.lines(
                        problems.isEmpty()
                                ? List.of("ok: " + file + " configures a " + kindName)
                                : problems.stream().map(Problem::toString).toList());
            }
        }
        if (output.isJson()) {
            output.json(results);
        }
        return isRead ? isValid ? ExitCode.OK : ExitCode.SOFTWARE : ExitCode.USAGE;
    }

    /** Returns why a file is not a text, or null. */
    private static @Nullable String undecodable(Path file) {
        try {
            return Files.readString(file).indexOf('\0') < 0 ? null : "cannot be read: not text";
        } catch (IOException e) {
            return "cannot be read: " + Unreadable.why(e);
        }
    }

    /** Returns a problem, with the line of one in the file. */
    private static Map<String, Object> fields(Path file, Problem problem) {
        Matcher line = LINE.matcher(problem.where().substring(file.toString().length()));
        return Output.cells(
                "file", file.toString(),
                "line", line.matches() ? Integer.valueOf(line.group(1)) : NullNode.instance,
                "where", problem.where(),
                "key", problem.key(),
                "message", problem.message());
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

    private static List<Problem> problems(
            Path file, Path readable, ConfigKind kind, StartChecks start, @Nullable ConnectionChecks connections)
            throws IOException {
        List<Problem> problems = kind.problems(readable, start, connections);
        if (!problems.isEmpty() && isEmpty(readable)) {
            return List.of(new Problem(file.toString(), "", "is empty"));
        }
        return Stream.concat(
                        problems.stream().map(problem -> at(file, readable, problem)),
                        Stream.ofNullable(connections)
                                .flatMap(each -> each.problems().stream())
                                .map(problem -> new Problem(file.toString(), "", Failures.inWords(problem))))
                .toList();
    }

    /** Returns a problem with the name of its file first. */
    private static Problem at(Path file, Path readable, Problem problem) {
        String where = problem.where();
        boolean isPlaced = where.startsWith(readable.toString());
        return new Problem(
                file + (isPlaced ? where.substring(readable.toString().length()) : ": " + where),
                problem.key(),
                problem.message().replace(readable.toString(), file.toString()));
    }

    private static boolean isEmpty(Path readable) throws IOException {
        try (Stream<String> lines = Files.lines(readable)) {
            return lines.allMatch(line -> line.isBlank() || line.startsWith("#") || line.equals("---"));
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
            output.lines(List.of(kinds.size() > 1 ? "## " + each + "\n\n" + table + "\n" : table));
        }
    }

    /** Returns the rows of the table of a kind, by heading. */
    private static Stream<Map<String, Object>> rows(ConfigKind kind) {
        List<String[]> rows = SettingsText.reference(kind.settings())
                .lines()
                .map(line -> line.substring(2, line.length() - 2).split("(?<!\\\\) \\| ", -1))
                .toList();
        return rows.stream().skip(2).map(row -> {
            Map<String, Object> cells = Output.cells("kind", kind.toString());
            for (int column = 0; column < row.length; column++) {
                boolean isNone = row[column].equals("none") && rows.get(0)[column].equals("default");
                cells.put(
                        rows.get(0)[column],
                        isNone
                                ? NullNode.instance
                                : row[column].replaceAll("^`|`$", "").replace("\\|", "|"));
            }
            return cells;
        });
    }
}
