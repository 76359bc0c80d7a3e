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
            "Tell all that is wrong with a configuration file, or 'ok'. Nothing is started or connected to.",
            "UNDERSTUDY_... variables count as they do for the process."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:nothing is wrong", "1:something is", "2:bad usage, or there is no such file"})
final class ConfigCheckCommand implements Callable<Integer> {

    @Parameters(
            paramLabel = "FILE",
            description =
                    "The YAML file of a gateway, of mirrors, or of a core cluster; /dev/stdin for standard input.")
    private Path file;

    @Option(
            names = "--kind",
            paramLabel = "gateway|mirror|cluster",
            description = "What the file is; by default what fits best.")
    private @Nullable ConfigKind kind;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (!Files.exists(file) || Files.isDirectory(file)) {
            throw new ParameterException(spec.commandLine(), file + ": there is no such file");
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
