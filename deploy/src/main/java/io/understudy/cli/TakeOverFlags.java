package io.understudy.cli;

import io.understudy.etcd.Credentials;
import io.understudy.mirror.auth.AuthMode;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.takeover.TakeOver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What all commands have in common that move a mirror's home. */
final class TakeOverFlags {

    private static final String SOURCE_USER = "UNDERSTUDY_SOURCE_USER";
    private static final String TARGET_USER = "UNDERSTUDY_TARGET_USER";

    /** Of the environment, but no settings of a mirror. */
    static final Set<String> VARIABLES = Set.of(SOURCE_USER, TARGET_USER);

    @Option(
            names = "--config",
            required = true,
            paramLabel = "FILE",
            description =
                    "Mirror configuration file (YAML). UNDERSTUDY_... variables override it. With authentication, set"
                            + " UNDERSTUDY_SOURCE_USER and UNDERSTUDY_TARGET_USER to NAME:PASSWORD of users with the role"
                            + " root.")
    private Path file;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Override one setting. Repeatable.")
    private final Map<String, String> values = new LinkedHashMap<>();

    @Option(names = "--mirror", paramLabel = "NAME", description = "Mirror name. Required with several mirrors.")
    private String mirror;

    @Option(
            names = "--patience",
            defaultValue = "30s",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "Timeout for a cluster to respond, at least 1s (default: ${DEFAULT-VALUE}).")
    private Duration patience;

    @Option(names = "--yes", description = "Skip the confirmation of irreversible steps.")
    private boolean yes;

    @Option(names = "--dry-run", description = "Print the plan, check its preconditions, and exit.")
    private boolean dryRun;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private OutputForm output;

    MirrorSettings.Mirror mirror(CommandLine command) {
        return ConfiguredMirror.find(file, values, mirror, command);
    }

    /** Whether the mirror copies roles and users, which no switchover moves. */
    boolean copiesUsers(CommandLine command) {
        return mirror(command).target() instanceof MirrorSettings.Target.Etcd etcd
                && etcd.auth().mode() == AuthMode.COPY;
    }

    TakeOver clusters(CommandLine command) {
        return new TakeOver(mirror(command), user(SOURCE_USER), user(TARGET_USER), patience(command));
    }

    @Nullable Credentials sourceUser() {
        return user(SOURCE_USER);
    }

    Duration patience(CommandLine command) {
        if (patience.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new ParameterException(command, "--patience must be at least 1s");
        }
        return patience;
    }

    boolean isDryRun() {
        return dryRun;
    }

    /** Where the command shows what it does; the log, which tells of connections, goes to a file of its own. */
    TakeOverText text(CommandLine command) {
        LogFile.use(LogFile.temporary());
        return new TakeOverText(command, output, yes);
    }

    private static @Nullable Credentials user(String variable) {
        String value = System.getenv(variable);
        if (value == null || value.isEmpty()) {
            return null;
        }
        int colon = value.indexOf(':');
        if (colon < 1) {
            throw new IllegalArgumentException(variable + " must be NAME:PASSWORD");
        }
        return new Credentials(value.substring(0, colon), value.substring(colon + 1));
    }
}
