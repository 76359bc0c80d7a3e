package io.understudy.cli;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The {@code understudy} command line.
 *
 * <p>Exit status: 0 done, 1 failed, 2 bad usage. Results go to standard output, everything else to standard error.
 *
 * <p>Sub-commands name what they start inside their bodies only, never in a field or a signature: picocli reads those of
 * every sub-command, and {@code --version} must not load a server to print one line.
 */
@Command(
        name = "understudy",
        description = "Read replicas, mirrors and standbys for etcd.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = DistributionVersion.class,
        subcommands = {
            GatewayCommand.class,
            MirrorCommand.class,
            ClusterCommand.class,
            PkiCommand.class,
            EtcdCommand.class,
            LabCommand.class,
            BenchCommand.class
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done", "1:failed", "2:bad usage"})
public final class Understudy implements Runnable {

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Print this help and end.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version and end.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean version;

    @Spec
    private CommandSpec spec;

    private Understudy() {}

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** Runs one command in this JVM, with its output going to the given writers, and returns the exit status. */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return commandLine().setOut(out).setErr(err).execute(arguments);
    }

    private static CommandLine commandLine() {
        return new CommandLine(new Understudy())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Failures::badUsage)
                .setExecutionExceptionHandler(Failures::failed);
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}
