package io.understudy.cli;

import io.understudy.cluster.access.EtcdAccess;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.SourceSettings;
import io.understudy.gateway.primary.PrimaryRecord;
import io.understudy.vocabulary.KeyRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy gateway}: runs one gateway until SIGTERM or SIGINT; one method per sub-command. */
@Command(
        name = "gateway",
        description = "Run a gateway that serves the etcd v3 API from a read-only replica.",
        exitCodeList = {"0:stopped by SIGTERM or SIGINT", "1:failed", "2:usage error"})
final class GatewayCommand implements Callable<Integer> {

    /** What closing may take beside the wait for requests in flight. */
    private static final Duration CLOSE_MARGIN = Duration.ofSeconds(15);

    @Mixin
    private Flags.OptionalConfiguration configuration;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        GatewaySettings settings =
                GatewaySettings.load(configuration.required(spec.commandLine()), System.getenv(), configuration.values);
        return Foreground.hold(
                () -> Gateway.start(settings),
                Gateway::failure,
                settings.closeTimeout().plus(CLOSE_MARGIN));
    }

    /** Flags of {@code gateway grant}. */
    static final class Grant extends Output {

        @Mixin
        private Flags.Configuration configuration;

        @Option(names = "--user", paramLabel = "NAME", description = "User with the role root at the source.")
        private @Nullable String user;

        @Option(names = "--password-file", paramLabel = "FILE", description = "File with the password of --user.")
        private @Nullable Path passwordFile;

        @Option(names = "--standby-user", paramLabel = "NAME", description = "User with the role root at the standby.")
        private @Nullable String standbyUser;

        @Option(
                names = "--standby-password-file",
                paramLabel = "FILE",
                description = "File with the password of --standby-user.")
        private @Nullable Path standbyPasswordFile;

        @Option(
                names = "--timeout",
                defaultValue = "30s",
                converter = Converters.AtLeastOneSecond.class,
                paramLabel = "TIME",
                description = "Timeout for a member to respond, at least 1s (default: ${DEFAULT-VALUE}).")
        private Duration timeout;

        @Option(names = "--dry-run", description = "Print the changes and exit.")
        private boolean isDryRun;
    }

    @Command(
            name = "grant",
            description = {
                "Create the gateway's user and role at the source, with the least privileges.",
                "Name and password are source.user and source.passwordFile of the configuration; the role has the name of the"
                        + " user, and may read range.prefix. Changes only what is missing, and revokes nothing.",
                "With source.standby, likewise there, and both roles may read the record of the mirror's primary."
            })
    void grant(@Mixin Grant flags) {
        GatewaySettings settings =
                GatewaySettings.load(flags.configuration.file, System.getenv(), flags.configuration.values);
        if (!(settings.source() instanceof SourceSettings.Etcd source)) {
            throw flags.usageError("the source is Kafka, which has ACLs instead of roles");
        }
        List<EtcdAccess.Need> needs = new ArrayList<>(List.of(EtcdAccess.Need.read(settings.range())));
        SourceSettings.Standby standby = source.standby();
        if (standby != null) {
            needs.add(EtcdAccess.Need.read(KeyRange.single(PrimaryRecord.key(standby.mirror()))));
        }
        try (Grants grants = new Grants(flags, flags.timeout)) {
            grants.at("source", source.cluster(), Flags.login(flags, "--", flags.user, flags.passwordFile), needs);
            if (standby != null) {
                grants.at(
                        "source.standby",
                        standby.cluster(),
                        Flags.login(flags, "--standby-", flags.standbyUser, flags.standbyPasswordFile),
                        needs);
            }
            grants.run(flags.isDryRun);
        }
    }
}
