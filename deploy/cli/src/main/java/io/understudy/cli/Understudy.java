package io.understudy.cli;

import java.io.PrintWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The {@code understudy} command line.
 *
 * <p>Exit status: 0 done, 1 failed, 2 bad usage. Results go to standard output, everything else to standard error.
 *
 * <p>Fields and signatures of commands use few types: picocli loads those of every sub-command, even for {@code
 * --version}.
 */
@Command(
        name = "understudy",
        description = "Read replicas, mirrors and standbys for etcd.",
        versionProvider = Understudy.Version.class,
        exitCodeList = {"0:success", "1:failure", "2:usage error"})
public class Understudy implements Runnable {

    /** All commands. */
    @Command(
            modelTransformer = CommandModel.class,
            subcommands = {
                GatewayCommand.class,
                MirrorCommand.class,
                ClusterCommand.class,
                HealthCommand.class,
                PkiCommand.class,
                EtcdCommand.class,
                LabCommand.class,
                ConfigCommand.class,
                MetricsCommand.class
            })
    static final class Complete extends Understudy {}

    /** Commands that describe all others. */
    private static final Set<String> COMPLETE = Set.of("generate-completion", "help");

    private static final String LOG_FORMAT = "UNDERSTUDY_LOG_FORMAT";
    private static final String LOG_LEVEL = "UNDERSTUDY_LOG_LEVEL";
    private static final List<String> LOG_FORMATS = List.of("text", "json");
    private static final List<String> LOG_LEVELS = List.of("trace", "debug", "info", "warn", "error", "off");

    /** Flags that had another name in the previous release. */
    static final Map<String, String> RENAMED = Map.of(
            "--patience", "--timeout",
            "--raft-snapshots-written", "--restarted",
            "--start-patience", "--start-timeout",
            "--peer-url", "--peer-urls",
            "--client-url", "--client-urls");

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version and exit.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean version;

    @Spec
    private CommandSpec spec;

    Understudy() {}

    public static void main(String[] arguments) {
        wrongLog(System.getenv()).ifPresent(why -> {
            System.err.println("understudy: " + why);
            System.exit(ExitCode.USAGE);
        });
        System.exit(run(line -> {}, arguments));
    }

    /** Returns why nothing would be logged, or everything. */
    static Optional<String> wrongLog(Map<String, String> environment) {
        String format = environment.getOrDefault(LOG_FORMAT, "text");
        String level = environment.getOrDefault(LOG_LEVEL, "");
        if (!LOG_FORMATS.contains(format)) {
            return Optional.of(LOG_FORMAT + " is '" + format + "'; allowed: " + String.join(", ", LOG_FORMATS));
        }
        // logback ignores the case.
        return level.isEmpty() || LOG_LEVELS.contains(level.toLowerCase(Locale.ROOT))
                ? Optional.empty()
                : Optional.of(LOG_LEVEL + " is '" + level + "'; allowed: " + String.join(", ", LOG_LEVELS));
    }

    /** Runs a command with the given writers and returns the exit status. */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return run(line -> line.setOut(out).setErr(err), arguments);
    }

    private static int run(Consumer<CommandLine> output, String... given) {
        String[] arguments = renamed(given);
        CommandLine line = commandLine(arguments);
        output.accept(line);
        Map<String, String> former = new HashMap<>();
        for (int at = 0; at < given.length; at++) {
            if (!given[at].equals(arguments[at])) {
                former.put(name(arguments[at]), name(given[at]));
                line.getErr().println("understudy: " + name(given[at]) + " has a new name: " + name(arguments[at]));
            }
        }
        line.setParameterExceptionHandler(
                (failure, words) -> Failures.badUsage(withFormerName(failure, former), words));
        int status = line.execute(arguments);
        // A writer and a print stream keep their failures to themselves.
        if (status == ExitCode.OK && (line.getOut().checkError() || System.out.checkError())) {
            line.getErr().println("understudy: cannot write the output");
            return ExitCode.SOFTWARE;
        }
        return status;
    }

    private static String[] renamed(String... arguments) {
        boolean isStart = arguments.length > 1
                && arguments[0].equals("cluster")
                && Set.of("restore", "recover").contains(arguments[1]);
        String[] now = arguments.clone();
        for (int at = 0; at < now.length; at++) {
            String name = name(now[at]);
            String current = isStart && name.equals("--timeout") ? "--start-timeout" : RENAMED.getOrDefault(name, name);
            now[at] = current + now[at].substring(name.length());
        }
        return now;
    }

    /** @param former names of the flags that had one on this command line */
    private static ParameterException withFormerName(ParameterException failure, Map<String, String> former) {
        String twice = failure instanceof OverwrittenOptionException repeated
                        && repeated.getOverwritten() instanceof OptionSpec option
                ? option.longestName()
                : "";
        String name = former.get(twice);
        return name == null
                ? failure
                : new ParameterException(
                        failure.getCommandLine(),
                        twice + " and " + name + ", its former name, are the same option; specify it once");
    }

    /** Returns an argument without its value. */
    private static String name(String argument) {
        return argument.split("=", 2)[0];
    }

    /**
     * Returns a command line for the arguments. Commands that they do not name have a description only, since the
     * complete model takes most of the start time.
     */
    static CommandLine commandLine(String... arguments) {
        String first = arguments.length == 0 ? "" : arguments[0];
        if (COMPLETE.contains(first)) {
            return commandLine();
        }
        CommandLine line = new CommandLine(new Understudy());
        for (Class<?> each : Complete.class.getAnnotation(Command.class).subcommands()) {
            Command command = each.getAnnotation(Command.class);
            CommandSpec stub = CommandSpec.create();
            stub.usageMessage().description(command.description());
            line.addSubcommand(command.name(), command.name().equals(first) ? new CommandLine(each) : stub);
        }
        var unused = new CommandModel().transform(line.getCommandSpec());
        return handling(line, "1ms");
    }

    /** Returns the complete command line, for a single run. */
    static CommandLine commandLine() {
        return handling(new CommandLine(new Complete()), "1ms");
    }

    /** Returns the command line of a command with these conventions; durations may be 0. */
    public static CommandLine commandLine(Object command) {
        return handling(new CommandLine(command), "0ms");
    }

    private static CommandLine handling(CommandLine line, String least) {
        return Converters.register(line, least)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionStrategy(new Flags.Start())
                .setParameterExceptionHandler(Failures::badUsage)
                .setExecutionExceptionHandler(Failures::failed);
    }

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        spec.commandLine().usage(out);
        out.println();
        out.println("To start: 'understudy lab' runs a complete setup on this machine. 'understudy help COMMAND'");
        out.println("describes a command.");
        out.flush();
    }

    @Command(
            name = "generate-completion",
            description = "Print a completion script for bash, for zsh with bashcompinit, or for fish.")
    public void generateCompletion(
            @Option(
                            names = "--shell",
                            defaultValue = "bash",
                            paramLabel = "bash|fish",
                            description = "Shell (default: ${DEFAULT-VALUE}).")
                    Shell shell) {
        PrintWriter out = spec.commandLine().getOut();
        addNames(spec, Objects.requireNonNull(spec.subcommands().get("help")).getCommandSpec());
        out.print(shell == Shell.FISH ? FishCompletion.of(spec) : AutoComplete.bash(spec.name(), spec.commandLine()));
        out.flush();
    }

    /** A shell with a completion script. */
    enum Shell {
        BASH,
        FISH;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Adds the names of commands below help, for completion. */
    private static void addNames(CommandSpec from, CommandSpec help) {
        for (CommandLine each : List.copyOf(from.subcommands().values())) {
            if (each.getCommandSpec() != help) {
                CommandSpec name = CommandSpec.create();
                help.addSubcommand(each.getCommandName(), name);
                addNames(each.getCommandSpec(), name);
            }
        }
    }

    @Command(name = "help", description = "Print the help of a command.")
    public void help(
            @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "Command, such as cluster add.") @Nullable List<String> words) {
        CommandLine command = spec.commandLine();
        for (String word : words == null ? List.<String>of() : words) {
            CommandLine below = command.getSubcommands().get(word);
            if (below == null) {
                throw new UnmatchedArgumentException(command, List.of(word));
            }
            command = below;
        }
        command.usage(spec.commandLine().getOut());
    }

    @Command(name = "version", description = "Print the version.")
    public void version(@Mixin Output output) {
        output.text("version", output.isJson() ? Version.number() : "understudy " + Version.number());
    }

    /** Provides the version in the manifest of this jar. */
    static final class Version implements IVersionProvider {

        @Override
        public String[] getVersion() {
            return new String[] {"understudy " + number()};
        }

        static String number() {
            String version = Understudy.class.getPackage().getImplementationVersion();
            return version == null ? "(built in place)" : version;
        }
    }
}
