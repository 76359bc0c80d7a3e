package io.understudy.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
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
            "Applies UNDERSTUDY_... variables as the process does. Starts nothing and opens no connections."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:valid", "1:invalid", "2:usage error, or no such file"})
final class ConfigCheckCommand implements Callable<Integer> {

    @Parameters(
            paramLabel = "FILE",
            description =
                    "Configuration file (YAML) of a gateway, mirrors or a core cluster. /dev/stdin reads standard input.")
    private Path file;

    @Option(
            names = "--kind",
            paramLabel = "gateway|mirror|cluster",
            description = "Kind of configuration (default: detected from the file).")
    private @Nullable ConfigKind kind;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
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

    /** @param readable what is in the file */
    private int check(Path readable) {
        ConfigKind checked = kind == null ? ConfigKind.of(readable) : kind;
        List<String> problems = checked.problems(readable, System.getenv()).stream()
                .map(problem -> problem.replace(readable.toString(), file.toString()))
                .toList();
        PrintWriter out = spec.commandLine().getOut();
        problems.forEach(out::println);
        if (problems.isEmpty()) {
            out.println("ok: " + file + " configures a " + checked.name().toLowerCase(Locale.ROOT));
        }
        out.flush();
        return problems.isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
