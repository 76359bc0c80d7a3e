package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.run.OperationTimeouts;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.status.SupervisorView;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The cluster of a command, by flags of {@code etcdctl} that override its configuration. */
class ClusterFlags extends Output {

    @Option(
            names = "--endpoints",
            split = ",",
            paramLabel = "URL",
            description = "Comma-separated client URLs, such as http://10.0.1.10:2379. One reachable member suffices.")
    private List<String> endpoints = new ArrayList<>();

    @Mixin
    private Flags.OptionalConfiguration configuration;

    @Mixin
    private Flags.Tls tls;

    @Option(names = "--user", paramLabel = "NAME", description = "etcd user to authenticate as.")
    private @Nullable String user;

    @Option(names = "--password-file", paramLabel = "FILE", description = "File with the password of the user.")
    private @Nullable Path passwordFile;

    /**
     * Opens a connection; sends nothing yet.
     *
     * @throws ParameterException the flags name no cluster
     * @throws io.understudy.config.ConfigurationException the configuration or the flags are invalid
     */
    final ClusterConnection connect() {
        if (endpoints.isEmpty() && configuration.file == null) {
            throw usageError("specify --endpoints or --config");
        }
        if (endpoints.stream().anyMatch(String::isBlank)) {
            throw usageError("--endpoints has an empty URL; allowed: client URLs such as http://10.0.1.10:2379");
        }
        if (user != null && user.contains(":") && passwordFile == null) {
            throw usageError("--user is a name without a password; specify --password-file for the password");
        }
        if ((user == null) != (passwordFile == null) && configuration.file == null) {
            throw usageError("--user and --password-file must be specified together");
        }
        return new ClusterConnection(
                ClusterSettings.load(configuration.file, System.getenv(), overrides()), configuration.file != null);
    }

    private Map<String, String> overrides() {
        Map<String, String> values = new HashMap<>(configuration.values);
        TlsFiles files = tls.files(command());
        String scheme = files == null ? "http://" : "https://";
        if (!endpoints.isEmpty()) {
            values.put(
                    "cluster.endpoints",
                    endpoints.stream()
                            .map(endpoint -> endpoint.contains("://") ? endpoint : scheme + endpoint)
                            .collect(Collectors.joining(",")));
        }
        if (files != null) {
            put(values, "cluster.tls.trusted", files.trusted());
            put(values, "cluster.tls.certificate", files.certificate());
            put(values, "cluster.tls.key", files.key());
        }
        put(values, "cluster.user", user);
        put(values, "cluster.passwordFile", passwordFile == null ? null : passwordFile.toAbsolutePath());
        return values;
    }

    /** Prints why nothing is done. */
    final void refusals(List<Refusal> refusals) {
        if (isJson()) {
            json(cells(
                    "done",
                    false,
                    "refused",
                    refusals.stream()
                            .map(each -> cells("rule", each.rule(), "why", each.why(), "wayOut", each.wayOut()))
                            .toList()));
            return;
        }
        refusals.forEach(refusal -> {
            note("refused (" + refusal.rule() + "): " + refusal.why() + ".");
            note("  " + refusal.wayOut() + ".");
        });
    }

    private static void put(Map<String, String> values, String setting, @Nullable Object value) {
        if (value != null) {
            values.put(setting, value.toString());
        }
    }

    /** The supervisors of a cluster. */
    static class Supervisors {

        @Option(
                names = "--supervisors",
                split = ",",
                paramLabel = "URL",
                description = "Comma-separated URLs of the supervisors (default: supervisor.listen of --config).")
        private List<URI> urls = List.of();

        /** Reads the status page of each supervisor. */
        List<SupervisorView> views(ClusterConnection cluster) throws InterruptedException {
            List<SupervisorView> views = new ArrayList<>();
            for (URI url : urls.isEmpty() ? cluster.supervisor().stream().toList() : urls) {
                views.add(view(url, cluster));
            }
            return views;
        }

        private static SupervisorView view(URI url, ClusterConnection cluster) throws InterruptedException {
            try {
                String state = cluster.stateClient(url).state();
                return new SupervisorView(url, Optional.of(new JsonMapper().readTree(state)), "");
            } catch (IOException e) {
                return new SupervisorView(url, Optional.empty(), String.valueOf(e.getMessage()));
            }
        }
    }

    /** The supervisors beside a command that cannot pause them. */
    static final class TakeOver extends Supervisors {

        @Option(
                names = "--take-over",
                description = "Proceed although supervisors and other commands cannot be paused, as under an alarm or"
                        + " without a quorum. Confirms that none of them changes the cluster. Names supervisors that do"
                        + " not respond.")
        boolean isConfirmed;

        /** Returns refusals for supervisors that are not paused, and notes those that do not respond. */
        List<Refusal> acting(ClusterConnection cluster, Consumer<String> note) throws InterruptedException {
            List<SupervisorView> views = views(cluster);
            views.stream()
                    .filter(view -> view.state().isEmpty())
                    .forEach(view -> note.accept(view.failure() + "; --take-over confirms that it does not run"));
            try {
                cluster.activeSupervisor()
                        .filter(name ->
                                views.stream().noneMatch(view -> view.name().equals(Optional.of(name))))
                        .ifPresent(name -> note.accept("supervisor " + name
                                + " is active as stored in the cluster, and did not respond (--supervisors);"
                                + " --take-over confirms that it does not run"));
            } catch (IllegalStateException e) {
                note.accept(String.valueOf(e.getMessage()));
            }
            return views.stream()
                    .filter(SupervisorView::mayAct)
                    .map(view -> new Refusal(
                            "supervisors-stopped",
                            "supervisor " + view.name().orElse("") + " at " + view.url() + " is not paused",
                            "Stop it, or pause it on its host (understudy cluster supervise pause --url " + view.url()
                                    + ")"))
                    .toList();
        }
    }

    /** A command that observes the members. */
    static class Observed extends ClusterFlags {

        @Option(
                names = "--timeout",
                defaultValue = "5s",
                paramLabel = "TIME",
                description = "Timeout for a member to respond (default: ${DEFAULT-VALUE})."
                        + " Extended while this machine is overloaded.")
        Duration timeout;
    }

    /** A command that changes the cluster. */
    @Command(exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
    static final class Change extends Observed {

        @Option(names = "--dry-run", description = "Print the plan and exit.")
        boolean isDryRun;

        @Option(names = "--yes", description = "Skip the confirmation of irreversible steps.")
        boolean isConfirmed;

        @Option(
                names = "--start-timeout",
                defaultValue = "2m",
                paramLabel = "TIME",
                description = "Maximum time until a started member serves (default: ${DEFAULT-VALUE})."
                        + " A new member that exceeds it is removed.")
        private Duration start;

        @Option(
                names = "--max-learners",
                paramLabel = "N",
                description = "Confirm that members which this command cannot see run with this --max-learners, as"
                        + " configured. Needed to add another learner since 3.6.")
        private @Nullable Integer maxLearners;

        @Option(
                names = "--skip-peer-probe",
                description =
                        "Add a member although the host of its peer URL is not reachable yet, as before its container"
                                + " starts.")
        boolean isPeerProbeSkipped;

        @Mixin
        TakeOver takeOver;

        /** Returns the limit that all members need: without configured machines, the confirmed one. */
        StepWork.LearnerLimit learnerLimit(ClusterSettings settings) {
            Integer confirmed = maxLearners;
            int limit = confirmed != null && settings.machines().isEmpty() ? confirmed : settings.maxLearners();
            if (confirmed != null && confirmed != limit) {
                throw usageError("--max-learners is " + confirmed + ", the configuration has " + limit
                        + " (shape.maxLearners); all members need the same");
            }
            return new StepWork.LearnerLimit(limit, confirmed != null);
        }

        OperationTimeouts patience() {
            return OperationTimeouts.DEFAULT.withStart(start).withLook(timeout);
        }

        /** Runs a change, see {@link ClusterChange#run}. */
        int run(Function<ClusterChange, Goal> goal) throws InterruptedException {
            return ClusterChange.run(this, goal);
        }
    }
}
