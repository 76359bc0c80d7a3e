package io.understudy.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.config.ConfigurationException;
import io.understudy.config.Spelling;
import io.understudy.config.Unreadable;
import io.understudy.etcd.EtcdErrors;
import io.understudy.tls.TlsFileException;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
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

    private static final JsonMapper JSON = new JsonMapper();
    private static final Pattern POSITION = Pattern.compile("positional parameter at index [0-9.*]+ \\(([^)]+)\\)");
    private static final Pattern CHOICE = Pattern.compile("expected one of \\[.*] \\(case-insensitive\\) but was (.*)");
    private static final Pattern WEB_PAGE = Pattern.compile("(?is):?\\s*<(?:!doctype|html|head|\\?xml).*");

    /** Of servers with HTTP/1 only, and of those with HTTP/2 but without gRPC. */
    private static final Pattern NO_ETCD = Pattern.compile(
            "(?:[A-Z_]+: )?(?:http2 exception|HTTP status code \\d+\\R?\\s*invalid content-type: \\S+)");

    private Failures() {}

    static int badUsage(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        Set<String> reasons = new LinkedHashSet<>();
        reasons.add(usage(failure));
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
                        // Others may be a value that was refused.
                        .filter(each -> each.getUnmatched().stream().anyMatch(word -> word.startsWith("-")))
                        .forEach(each -> found.add(usage(each)));
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

    /** Returns the reason. For unknown arguments, it has only the flags, since the others may be their values. */
    private static String usage(ParameterException failure) {
        if (!(failure instanceof UnmatchedArgumentException unmatched)) {
            ArgSpec argument = failure.getArgSpec();
            return POSITION.matcher(CHOICE.matcher(reason(failure).replace("option option", "option"))
                            .replaceFirst("$1 is not allowed; allowed: "
                                    + (argument == null
                                            ? ""
                                            : argument.paramLabel().replace("|", ", "))))
                    .replaceFirst("$1");
        }
        CommandSpec command = failure.getCommandLine().getCommandSpec();
        List<String> flags = unmatched.getUnmatched().stream()
                .filter(word -> word.startsWith("-"))
                .toList();
        if (!flags.isEmpty()) {
            List<String> known = command.optionsMap().keySet().stream()
                    .filter(name -> name.startsWith("--"))
                    .toList();
            return flags.stream()
                    .map(flag -> "unknown option '" + flag + "'" + meant(flag.split("=", 2)[0], known))
                    .collect(Collectors.joining("; "));
        }
        String word = unmatched.getUnmatched().get(0);
        return command.subcommands().isEmpty()
                ? "unexpected argument '" + word + "'"
                : "unknown command '" + word + "'"
                        + meant(word, command.subcommands().keySet());
    }

    private static String meant(String word, Collection<String> known) {
        return Spelling.nearest(word, known)
                .map(near -> "; did you mean " + near + "?")
                .orElse("");
    }

    static int failed(Exception failure, CommandLine command, ParseResult parsed) {
        String reason =
                reason(failure) + LogFile.written().map(log -> "; log: " + log).orElse("");
        PrintWriter err = command.getErr();
        err.println(command.getCommandSpec().qualifiedName() + ": " + reason);
        if ("debug".equalsIgnoreCase(System.getenv("UNDERSTUDY_LOG_LEVEL"))) {
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
        boolean isPrinted = command.getCommandSpec().mixins().values().stream()
                .anyMatch(mixin -> mixin.userObject() instanceof Output output && output.isPrinted());
        if (isPrinted) {
            // One document only.
            return status;
        }
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
            boolean isCause =
                    cause.getCause() != null && cause.getCause().toString().equals(cause.getMessage());
            if (!isCause && (reason.isEmpty() || (cause.getMessage() != null && reason.indexOf(message) < 0))) {
                reason.append(reason.isEmpty() ? "" : ": ").append(message);
            }
            if (EtcdErrors.isOfCall(cause) || cause instanceof TlsFileException) {
                // Its message includes its causes.
                break;
            }
        }
        return inWords(WEB_PAGE.matcher(reason).replaceFirst(" and a web page; check the URL"));
    }

    /**
     * Returns a message without the terms with which the HTTP/2 client reports another server. It names the endpoint.
     */
    static String inWords(String message) {
        return NO_ETCD.matcher(message)
                .replaceAll("not an etcd endpoint: the server does not support the etcd v3 API (gRPC)");
    }

    private static String described(Throwable failure) {
        if (EtcdErrors.isOfCall(failure)) {
            return EtcdErrors.text(failure);
        }
        if (failure instanceof JsonProcessingException invalid) {
            return invalid.getOriginalMessage();
        }
        return failure instanceof FileSystemException file
                ? file.getFile() + ": " + Unreadable.why(file)
                : Unreadable.why(failure);
    }
}
