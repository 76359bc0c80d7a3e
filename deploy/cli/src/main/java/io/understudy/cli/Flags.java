package io.understudy.cli;

import io.understudy.cluster.supervise.StateClient;
import io.understudy.config.Unreadable;
import io.understudy.etcd.Credentials;
import io.understudy.tls.TlsFileException;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;

/** Flags shared by several commands. A configuration's flags override the environment, which overrides the file. */
final class Flags {

    private static final String FILE = "Configuration file (YAML). UNDERSTUDY_... variables override it.";
    private static final String SET = "Override one setting. Repeatable.";

    private Flags() {}

    /**
     * Returns the response of a server.
     *
     * @param timeout bounds the whole call: that of an HTTP client ends with the head of a response
     * @param server URL or description
     * @throws IOException no response in time; the message names the server
     */
    static <T> T within(Duration timeout, Object server, Callable<T> call) throws Exception {
        FutureTask<T> response = new FutureTask<>(call);
        DaemonThreads.start("call", response);
        try {
            return response.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                String why = Unreadable.why(failure);
                throw why.contains(server.toString())
                        ? failure
                        : new IOException("no response from " + server + ": " + why, failure);
            }
            throw e.getCause() instanceof Exception failure ? failure : e;
        } catch (TimeoutException e) {
            response.cancel(true);
            throw new IOException("no response from " + server + " within " + timeout.toMillis() + " ms");
        }
    }

    /** Returns why a file cannot be opened, or null. */
    static @Nullable String unreadable(Path file) {
        try {
            file.getFileSystem().provider().checkAccess(file, AccessMode.READ);
            return Files.isDirectory(file) ? "is a directory" : null;
        } catch (IOException e) {
            return Unreadable.why(e);
        }
    }

    /**
     * Starts a command: selects its log, and checks the paths in its flags. A FILE is readable, a DIR is not a file or
     * URL.
     */
    static final class Start extends RunLast {

        @Override
        protected List<Object> handle(ParseResult parsed) {
            CommandLine last =
                    parsed.asCommandLineList().get(parsed.asCommandLineList().size() - 1);
            if (last.getCommandSpec().optionsMap().containsKey("--output")) {
                LogFile.useNone();
            }
            for (ParseResult each = parsed; each != null; each = each.subcommand()) {
                for (OptionSpec option : each.matchedOptions()) {
                    String why = option.getValue() instanceof Path path ? why(option, path) : null;
                    if (why != null) {
                        throw new ParameterException(
                                each.commandSpec().commandLine(),
                                option.longestName() + " is "
                                        + option.originalStringValues().get(0) + ": " + why);
                    }
                }
            }
            return super.handle(parsed);
        }

        private static @Nullable String why(OptionSpec option, Path path) {
            if (option.paramLabel().equals("FILE")) {
                return unreadable(path);
            }
            if (option.originalStringValues().get(0).contains("://")) {
                return "a URL; allowed: a directory";
            }
            return Files.exists(path) && !Files.isDirectory(path) ? "not a directory" : null;
        }
    }

    /** A required configuration. */
    static final class Configuration {

        @Option(names = "--config", required = true, paramLabel = "FILE", description = FILE)
        Path file;

        @Option(names = "--set", paramLabel = "KEY=VALUE", description = SET)
        Map<String, String> values = new LinkedHashMap<>();
    }

    /** An optional configuration, as of a sub-command that inherits a required one's flags. */
    static final class OptionalConfiguration {

        @Option(names = "--config", paramLabel = "FILE", description = FILE)
        @Nullable Path file;

        @Option(names = "--set", paramLabel = "KEY=VALUE", description = SET)
        Map<String, String> values = new LinkedHashMap<>();

        Path required(CommandLine command) {
            if (file == null) {
                throw new ParameterException(command, "Missing required option: '--config=FILE'");
            }
            return file;
        }
    }

    /**
     * Returns a user with the password in a file; null without both.
     *
     * @param prefix of the flags user and password-file
     * @throws ParameterException only one of them, or an unreadable file
     */
    static @Nullable Credentials login(Output output, String prefix, @Nullable String name, @Nullable Path file) {
        if (name == null && file == null) {
            return null;
        }
        if (name == null || file == null) {
            throw output.usageError(prefix + "user and " + prefix + "password-file must be specified together");
        }
        try {
            return new Credentials(name, Files.readString(file).strip());
        } catch (IOException e) {
            throw output.usageError(prefix + "password-file is " + file + ": " + Unreadable.why(e));
        }
    }

    /** A connection to a server with an {@code https} URL, by flags of {@code etcdctl}. */
    static final class Tls {

        @Option(
                names = "--cacert",
                paramLabel = "FILE",
                description = "CA certificates for verifying the server, PEM (default: the platform's).")
        private @Nullable Path trusted;

        @Option(names = "--cert", paramLabel = "FILE", description = "Client certificate, PEM.")
        private @Nullable Path certificate;

        @Option(
                names = "--key",
                paramLabel = "FILE",
                description = "Private key of the client certificate, PEM, unencrypted.")
        private @Nullable Path key;

        /**
         * Returns the given files; null if there are none.
         *
         * @throws ParameterException a certificate without its key or the reverse, or a file cannot be read
         */
        @Nullable TlsFiles files(CommandLine command) {
            if (trusted == null && certificate == null && key == null) {
                return null;
            }
            if ((certificate == null) != (key == null)) {
                throw new ParameterException(command, "--cert and --key must be specified together");
            }
            TlsFiles files = new TlsFiles(trusted, certificate, key);
            try {
                files.requireReadable();
            } catch (TlsFileException e) {
                String message = String.valueOf(e.getMessage());
                throw new ParameterException(command, flagOf(message) + message, e);
            }
            return files;
        }

        /** @param message begins with the file */
        private String flagOf(String message) {
            return isOf(message, trusted)
                    ? "--cacert is "
                    : isOf(message, certificate) ? "--cert is " : isOf(message, key) ? "--key is " : "";
        }

        private static boolean isOf(String message, @Nullable Path file) {
            return file != null && message.startsWith(file + ": ");
        }
    }

    /** A running supervisor. */
    static final class Supervisor extends Output {

        @Option(
                names = "--url",
                defaultValue = "http://127.0.0.1:8082",
                paramLabel = "URL",
                description = "URL of the supervisor (default: ${DEFAULT-VALUE}).")
        URI url;

        @Option(
                names = "--timeout",
                defaultValue = "10s",
                converter = Converters.AtMostTenSeconds.class,
                paramLabel = "TIME",
                description = "Timeout for a supervisor to respond, at most 10s (default: ${DEFAULT-VALUE}).")
        private Duration timeout;

        @Mixin
        private Tls tls;

        /** Returns the response of the supervisor. */
        String response(Call call) throws Exception {
            StateClient client = new StateClient(url, tls.files(command()));
            return within(timeout, url, () -> call.to(client));
        }

        /** A request to a supervisor. */
        @FunctionalInterface
        interface Call {
            String to(StateClient client) throws IOException, InterruptedException;
        }
    }
}
