package io.understudy.cli;

import java.io.PrintWriter;
import java.util.OptionalInt;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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
        modelTransformer = Examples.class,
        subcommands = {
            GatewayCommand.class,
            MirrorCommand.class,
            ClusterCommand.class,
            HealthCommand.class,
            PkiCommand.class,
            EtcdCommand.class,
            LabCommand.class,
            ConfigCommand.class,
            MetricsCommand.class,
            CompletionCommand.class
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:success", "1:failure", "2:usage error"})
public final class Understudy implements Runnable {

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Print this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version and exit.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean version;

    @Spec
    private CommandSpec spec;

    private Understudy() {}

    public static void main(String[] arguments) {
        System.exit(LogFormat.isKnown(System.err) ? run(line -> {}, arguments) : ExitCode.USAGE);
    }

    /** Runs one command in this JVM, with its output going to the given writers, and returns the exit status. */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return run(line -> line.setOut(out).setErr(err), arguments);
    }

    private static int run(Consumer<CommandLine> output, String... arguments) {
        NamedCommand named = NamedCommand.of(Understudy.class, arguments).orElse(null);
        if (named != null) {
            CommandLine line = handling(named.commandLine());
            output.accept(line);
            OptionalInt status = named.execute(arguments);
            if (status.isPresent()) {
                return status.getAsInt();
            }
        }
        CommandLine line = commandLine();
        output.accept(line);
        return line.execute(arguments);
    }

    /** All of it, for a single run. */
    static CommandLine commandLine() {
        return commandLine(new Understudy());
    }

    /** The command line of a command with the conventions of this one: values, errors and exit status. */
    public static CommandLine commandLine(Object command) {
        return handling(new CommandLine(command));
    }

    private static CommandLine handling(CommandLine line) {
        return line.setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Failures::badUsage)
                .setExecutionExceptionHandler(Failures::failed);
    }

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        spec.commandLine().usage(out);
        out.println();
        out.println(
                "To start: 'understudy lab' runs a complete setup on this machine. 'understudy COMMAND --help' describes a");
        out.println("command.");
        out.flush();
    }
}
