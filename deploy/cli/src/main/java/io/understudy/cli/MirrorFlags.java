package io.understudy.cli;

import io.understudy.etcd.Credentials;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.StatusClient;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverOptions;
import io.understudy.seed.Seed;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Flags of the mirror's commands. */
final class MirrorFlags {

    private static final String SOURCE_USER = "UNDERSTUDY_SOURCE_USER";
    private static final String TARGET_USER = "UNDERSTUDY_TARGET_USER";

    private MirrorFlags() {}

    /** Loads a configuration of mirrors, without the variables of commands. */
    static MirrorSettings load(Path file, Map<String, String> values) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.keySet().removeAll(Set.of(SOURCE_USER, TARGET_USER));
        return MirrorConfiguration.load(file, environment, values);
    }

    /**
     * Returns the mirror of that name, or the only one.
     *
     * @param name null if it was not specified
     * @throws ParameterException there is no such mirror, or there are several; the message lists them
     */
    private static MirrorSettings.Mirror find(
            Path file, Map<String, String> values, @Nullable String name, CommandLine command) {
        List<MirrorSettings.Mirror> mirrors = load(file, values).mirrors();
        List<String> names = mirrors.stream().map(MirrorSettings.Mirror::name).toList();
        if (name == null && mirrors.size() > 1) {
            throw new ParameterException(command, "specify --mirror, one of " + String.join(", ", names));
        }
        return mirrors.stream()
                .filter(mirror -> name == null || mirror.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ParameterException(
                        command,
                        "no mirror " + name + " in " + file + "; allowed for --mirror: " + String.join(", ", names)));
    }

    /** A running process, by URL or configuration. */
    static final class Running {

        private static final URI LOCAL = URI.create("http://127.0.0.1:8081");

        @Option(
                names = "--url",
                paramLabel = "URL",
                description = "Status URL of the process (default: http://127.0.0.1:8081).")
        private @Nullable URI url;

        @Option(
                names = "--timeout",
                defaultValue = "30s",
                converter = Converters.AtMostThirtySeconds.class,
                paramLabel = "TIME",
                description = "Timeout for a server to respond, at most 30s (default: ${DEFAULT-VALUE}).")
        private Duration timeout;

        @Mixin
        private Flags.OptionalConfiguration configuration;

        @Mixin
        private Flags.Tls tls;

        /** A request to a process. */
        @FunctionalInterface
        interface Call {
            String to(StatusClient client) throws IOException, InterruptedException;
        }

        /** Returns the response of the process at the status URL. */
        String response(CommandLine command, Call call) throws Exception {
            URI status = statusUrl();
            StatusClient client = new StatusClient(status, tls.files(command));
            return within(status, () -> call.to(client));
        }

        /** Returns the response of a server, see {@link Flags#within}. */
        <T> T within(Object server, Callable<T> call) throws Exception {
            return Flags.within(timeout, server, call);
        }

        void check(CommandLine command) {
            if (url != null && configuration.file != null) {
                throw new ParameterException(command, "--url and --config are mutually exclusive");
            }
            if (configuration.file == null && !configuration.values.isEmpty()) {
                throw new ParameterException(command, "--set requires --config");
            }
        }

        boolean isConfigured() {
            return configuration.file != null;
        }

        /** Returns the status URL of the configuration, or of the flags. */
        private URI statusUrl() {
            return configuration.file == null
                    ? url == null ? LOCAL : url
                    : load(configuration.file, configuration.values).statusUrl();
        }

        MirrorSettings.Mirror mirror(@Nullable String name, CommandLine command) {
            return find(configuration.required(command), configuration.values, name, command);
        }
    }

    /** A mirror by name. */
    static final class Name {

        @Option(names = "--mirror", paramLabel = "NAME", description = "Mirror name. Required with several mirrors.")
        @Nullable String name;
    }

    /** One mirror of a configuration. */
    static class One extends Output {

        @Mixin
        private Flags.Configuration configuration;

        @Mixin
        private Name mirror;

        final MirrorSettings.Mirror mirror() {
            return find(configuration.file, configuration.values, mirror.name, command());
        }
    }

    /** Commands that connect to both clusters of a mirror. */
    static final class Clusters extends One {

        @Option(
                names = "--source-user",
                paramLabel = "NAME",
                description = "User with the role root at the source (default: from UNDERSTUDY_SOURCE_USER,"
                        + " NAME:PASSWORD).")
        private @Nullable String sourceUser;

        @Option(
                names = "--source-password-file",
                paramLabel = "FILE",
                description = "File with the password of --source-user.")
        private @Nullable Path sourcePasswordFile;

        @Option(
                names = "--target-user",
                paramLabel = "NAME",
                description = "User with the role root at the target (default: from UNDERSTUDY_TARGET_USER,"
                        + " NAME:PASSWORD).")
        private @Nullable String targetUser;

        @Option(
                names = "--target-password-file",
                paramLabel = "FILE",
                description = "File with the password of --target-user.")
        private @Nullable Path targetPasswordFile;

        @Option(
                names = "--timeout",
                defaultValue = "30s",
                converter = Converters.AtLeastOneSecond.class,
                paramLabel = "TIME",
                description = "Timeout for a cluster to respond, at least 1s (default: ${DEFAULT-VALUE}).")
        Duration timeout;

        @Option(names = "--yes", description = "Skip the confirmation of irreversible steps.")
        boolean isConfirmed;

        @Option(names = "--dry-run", description = "Print the plan, check its preconditions, and exit.")
        boolean isDryRun;

        TakeOver connect() {
            return new TakeOver(mirror(), sourceUser(), targetUser(), timeout);
        }

        @Nullable Credentials sourceUser() {
            return user("source", sourceUser, sourcePasswordFile, SOURCE_USER);
        }

        @Nullable Credentials targetUser() {
            return user("target", targetUser, targetPasswordFile, TARGET_USER);
        }

        /** Prints the steps of the command; the log goes to a file. */
        TakeOverText text() {
            LogFile.use(LogFile.temporary());
            return new TakeOverText(this, isConfirmed);
        }

        private @Nullable Credentials user(
                String side, @Nullable String name, @Nullable Path passwordFile, String variable) {
            Credentials given = Flags.login(this, "--" + side + "-", name, passwordFile);
            if (given != null) {
                return given;
            }
            String value = System.getenv(variable);
            if (value == null || value.isEmpty()) {
                return null;
            }
            int colon = value.indexOf(':');
            if (colon < 1) {
                throw usageError(variable + " must be NAME:PASSWORD");
            }
            return new Credentials(value.substring(0, colon), value.substring(colon + 1));
        }
    }

    /** The first member of a target. */
    static final class FirstMember {

        @Option(
                names = "--data-dir",
                required = true,
                paramLabel = "DIR",
                description = "Data directory to create. Must not exist.")
        private Path directory;

        @Option(names = "--member-name", required = true, paramLabel = "NAME", description = "Name of the member.")
        private String name;

        @Option(
                names = "--peer-urls",
                required = true,
                split = ",",
                paramLabel = "URL",
                description = "Peer URLs of the member.")
        private List<URI> peerUrls;

        @Option(
                names = "--client-urls",
                split = ",",
                defaultValue = "http://127.0.0.1:2379",
                paramLabel = "URL",
                description = "Client URLs of the member, for the printed command (default: ${DEFAULT-VALUE}).")
        private List<URI> clientUrls;

        @Option(
                names = "--cluster-token",
                defaultValue = "understudy-target",
                paramLabel = "TEXT",
                description = "Cluster token (default: ${DEFAULT-VALUE}).")
        private String token;

        @Option(
                names = "--bump-revision",
                defaultValue = "1000000000",
                converter = Converters.Positive.class,
                paramLabel = "N",
                description = "Increase of the latest revision (default: ${DEFAULT-VALUE}).")
        private long bump;

        Seed seed() {
            return new Seed(directory, name, peerUrls, clientUrls, token, bump);
        }
    }

    /** How a former primary rejects client writes, and whether any were lost. */
    @Command(
            exitCodeList = {
                "0:done, nothing lost",
                "1:failed; the role has not moved, unless the message states otherwise",
                "2:usage error",
                "3:done, writes lost or unknown"
            })
    static final class Close {

        @Option(
                names = "--close",
                converter = Converters.ClosingWay.class,
                completionCandidates = Converters.ClosingWays.class,
                paramLabel = "roles|corrupt-alarm|auth-enable",
                description =
                        "How the former primary refuses client writes. roles (default): revokes write access to the mirrored keys"
                                + " from all roles but the mirror's; requires authentication. corrupt-alarm: refuses all writes"
                                + " to the cluster during the move, then enables authentication. auth-enable: enables"
                                + " authentication, which refuses reads too; lease expiries continue.")
        private @Nullable Way close;

        @Option(
                names = "--allow-loss",
                description =
                        "Do not close the former primary. Names the keys written too late; exit status 3 if there are any.")
        private boolean allowLoss;

        Way way(CommandLine command) {
            if (allowLoss && close != null) {
                throw new ParameterException(command, "--close and --allow-loss are mutually exclusive");
            }
            return allowLoss ? Way.NONE : close == null ? Way.ROLES : close;
        }

        /** Returns the options of a command without a plan of its own. */
        TakeOverOptions options(Clusters clusters, boolean force) {
            TakeOverOptions options = TakeOverOptions.DEFAULTS
                    .with(way(clusters.command()))
                    .within(TakeOverOptions.DEFAULTS.drainDeadline(), clusters.timeout);
            return force ? options.forced() : options;
        }
    }

    /** A planned move of the primary role, in either direction. */
    static final class Move {

        @Mixin
        private Close close;

        @Option(
                names = "--accept-silent-watchers",
                description = "Allow a new primary with a lower revision, although watchers may miss changes.")
        private boolean acceptSilentWatchers;

        @Option(
                names = "--max-lag",
                defaultValue = "1000",
                paramLabel = "REVISIONS",
                description = "Maximum lag of the new primary at the start (default: ${DEFAULT-VALUE}).")
        private long maxLag;

        @Option(
                names = "--drain-deadline",
                defaultValue = "1m",
                converter = Converters.AtLeastOneSecond.class,
                paramLabel = "TIME",
                description =
                        "Maximum time to apply all commits of the closed cluster, at least 1s (default: ${DEFAULT-VALUE}).")
        private Duration drainDeadline;

        @Option(
                names = "--undo",
                description =
                        "Open the former primary again after a move that was cut short. Possible until the role has moved.")
        boolean isUndo;

        @Option(
                names = "--force",
                description =
                        "With --undo: open it although the new primary is lost and may have taken the role. Its writes are lost.")
        private boolean force;

        TakeOverOptions options(Clusters clusters) {
            if (force && !isUndo) {
                throw clusters.usageError("--force requires --undo");
            }
            return new TakeOverOptions(
                    close.way(clusters.command()),
                    acceptSilentWatchers,
                    force,
                    maxLag,
                    drainDeadline,
                    clusters.timeout);
        }
    }
}
