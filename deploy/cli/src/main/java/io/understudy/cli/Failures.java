package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.config.ConfigurationException;
import io.understudy.etcd.EtcdErrors;
import io.understudy.tls.TlsFileException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Prints the failure of a command: one line with its name and the reason. It has one line more for each problem of a
 * configuration, and a stack trace at log level debug only.
 *
 * <p>Invariant DP1: the exit status is 0 for success, 1 for a failure and 2 for bad usage; a failure prints one line,
 * never a stack trace.
 */
final class Failures {

    private static final int MOST_SUGGESTED = 2;
    private static final JsonMapper JSON = new JsonMapper();

    private Failures() {}

    static int badUsage(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        Set<String> reasons = new LinkedHashSet<>();
        reasons.add(reason(failure) + meant(failure));
        reasons.addAll(unmatched(command, arguments));
        String reason = String.join("; ", reasons);
        PrintWriter err = command.getErr();
        err.println(name + ": " + reason + " (see '" + name + " --help')");
        err.flush();
        return ended(command, List.of(arguments), reason, ExitCode.USAGE);
    }

    /** Returns unknown arguments beside another error, by parsing again without stopping at the first. */
    private static List<String> unmatched(CommandLine command, String... arguments) {
        CommandLine root = command;
        while (root.getParent() != null) {
            root = root.getParent();
        }
        collectErrors(root, true);
        List<String> found = new ArrayList<>();
        try {
            for (ParseResult parsed = root.parseArgs(arguments); parsed != null; parsed = parsed.subcommand()) {
                parsed.errors().stream()
                        .filter(UnmatchedArgumentException.class::isInstance)
                        .map(UnmatchedArgumentException.class::cast)
                        .forEach(each -> found.add(reason(each) + meant(each)));
            }
        } catch (ParameterException e) {
            // Reported already.
        } finally {
            collectErrors(root, false);
        }
        return found;
    }

    private static void collectErrors(CommandLine command, boolean is) {
        command.getCommandSpec().parser().collectErrors(is);
        command.getSubcommands().values().forEach(below -> collectErrors(below, is));
    }

    private static String meant(ParameterException failure) {
        List<String> near =
                failure instanceof UnmatchedArgumentException unmatched ? unmatched.getSuggestions() : List.of();
        return near.isEmpty()
                ? ""
                : near.stream().limit(MOST_SUGGESTED).collect(Collectors.joining(" or ", "; did you mean ", "?"));
    }

    static int failed(Exception failure, CommandLine command, ParseResult parsed) {
        String reason = reason(failure);
        PrintWriter err = command.getErr();
        err.println(command.getCommandSpec().qualifiedName() + ": " + reason);
        if ("debug".equals(System.getenv("UNDERSTUDY_LOG_LEVEL"))) {
            failure.printStackTrace(err);
        }
        err.flush();
        return ended(
                command,
                parsed.originalArgs(),
                reason,
                isOfConfiguration(failure) ? ExitCode.USAGE : ExitCode.SOFTWARE);
    }

    /** Returns the status, after printing the error as result with {@code --output json}. */
    private static int ended(CommandLine command, List<String> arguments, String reason, int status) {
        List<String> words = arguments.stream()
                .map(argument -> argument.toLowerCase(Locale.ROOT))
                .toList();
        int flag = words.indexOf("--output");
        if (words.contains("--output=json")
                || (flag >= 0 && flag + 1 < words.size() && words.get(flag + 1).equals("json"))) {
            command.getOut()
                    .println(JSON.createObjectNode().put("error", reason).put("status", status));
            command.getOut().flush();
        }
        return status;
    }

    private static boolean isOfConfiguration(Exception failure) {
        return failure instanceof ConfigurationException
                || (failure instanceof TlsFileException files && files.isConfigured());
    }

    /** Returns the messages of the failure and its causes, outermost first, without repetitions. */
    private static String reason(Throwable failure) {
        Set<Throwable> seen = new LinkedHashSet<>();
        StringBuilder reason = new StringBuilder();
        for (Throwable cause = failure; cause != null && seen.add(cause); cause = cause.getCause()) {
            String message = described(cause);
            if (reason.isEmpty() || (cause.getMessage() != null && reason.indexOf(message) < 0)) {
                reason.append(reason.isEmpty() ? "" : ": ").append(message);
            }
            if (EtcdErrors.isOfCall(cause) || cause instanceof TlsFileException) {
                // Its message includes its causes.
                break;
            }
        }
        return reason.toString();
    }

    private static String described(Throwable failure) {
        String message = failure.getMessage();
        if (EtcdErrors.isOfCall(failure)) {
            return EtcdErrors.text(failure);
        }
        if (message == null || message.isBlank()) {
            return failure.getClass().getSimpleName();
        }
        return failure.getClass().getPackageName().startsWith("java.nio.file")
                ? failure.getClass().getSimpleName() + ": " + message
                : message;
    }
}
