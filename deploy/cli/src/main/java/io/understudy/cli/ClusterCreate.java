package io.understudy.cli;

import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.DirectoryLock;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.UrlRules;
import io.understudy.cluster.run.LogExplanation;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.Founding;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.part.ClusterUsers;
import io.understudy.local.process.Folders;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.ClusterId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Creates a cluster of one member, or leaves everything as it was but data that clients may have written. */
final class ClusterCreate extends ClusterFlags {

    private static final String ROOT = "root";

    @Parameters(paramLabel = "NAME", description = "Name of the first member, one of machines.")
    private String name;

    @Option(
            names = "--auth",
            description = "Create the user root and enable authentication. --user root and --password-file, or the same"
                    + " settings of cluster, have the password; without a user it is read from the terminal.")
    private boolean isSecured;

    @Option(
            names = "--start-timeout",
            defaultValue = "2m",
            paramLabel = "TIME",
            description = "Maximum time until the member serves (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    @Option(names = "--dry-run", description = "Check the preconditions, print the plan, and exit.")
    private boolean isDryRun;

    /** Returns whether the cluster serves, or would be created by a dry run. */
    boolean run() {
        try (ClusterConnection cluster = connect()) {
            MachineSettings machine = machine(cluster.settings());
            @Nullable Credentials login = cluster.settings().cluster().login();
            if (isSecured && login != null && !login.user().equals(ROOT)) {
                throw usageError("--auth creates the user root, but the user is " + login.user()
                        + "; specify --user root and --password-file");
            }
            Machines control = cluster.machines(this::note);
            List<Refusal> refusals = refusals(machine, control);
            if (!refusals.isEmpty()) {
                refusals(refusals);
                return false;
            }
            ClusterRestore.refuseBesideAnother(cluster.observerOfAll());
            List<String> steps = steps(machine);
            if (isDryRun) {
                List<Map<String, Object>> rows = new ArrayList<>();
                steps.forEach(step -> rows.add(cells("step", rows.size() + 1, "action", step)));
                rows(List.of("step", "action"), rows);
                return true;
            }
            @Nullable Credentials root = isSecured ? root(machine, login) : null;
            ClusterFacts facts =
                    Foreground.interruptible(() -> new Creation(cluster, machine, control).run(steps, root));
            if (isJson()) {
                json(cells(
                        "done",
                        true,
                        "cluster",
                        facts.cluster().toString(),
                        "quorum",
                        facts.quorum().toString(),
                        "authentication",
                        isSecured));
            } else {
                lines(List.of("done: cluster " + facts.cluster() + " serves: " + facts.quorum()));
            }
            return true;
        }
    }

    private MachineSettings machine(ClusterSettings settings) {
        return settings.machine(name)
                .orElseThrow(() -> usageError("no machine " + name + " in the configuration (--config); machines: "
                        + settings.machines().stream()
                                .map(MachineSettings::name)
                                .collect(Collectors.joining(", "))));
    }

    /** @throws ParameterException there is no password, or it would be readable on the network */
    private Credentials root(MachineSettings machine, @Nullable Credentials login) {
        if (login != null) {
            return login;
        }
        // A request to this machine stays on it.
        if (machine.process() == ProcessKind.MANUAL
                && machine.member().clientUrls().get(0).getScheme().equals("http")) {
            throw usageError("the password would be sent in plaintext to "
                    + machine.member().clientUrls().get(0)
                    + "; use https, or specify --user root and --password-file");
        }
        return new Credentials(ROOT, password(ROOT));
    }

    private List<String> steps(MachineSettings machine) {
        String how =
                switch (machine.process()) {
                    case MANUAL -> " by hand";
                    case LOCAL -> " as a process";
                    case SYSTEMD -> " as unit " + machine.unit();
                };
        List<String> steps = new ArrayList<>(List.of(
                "start " + name + how + ", with new data in " + machine.dataDirectory(),
                "wait until " + name + " serves at " + joined(machine.member().clientUrls())));
        if (isSecured) {
            steps.add("create user root and enable authentication");
        }
        return steps;
    }

    private static String joined(List<URI> urls) {
        return urls.stream().map(URI::toString).collect(Collectors.joining(","));
    }

    /** Returns all reasons why the member cannot start. On another machine, only its URLs are known. */
    private List<Refusal> refusals(MachineSettings machine, Machines control) {
        MemberSpec member = machine.member();
        String key = "machines." + name + ".";
        List<Refusal> found = new ArrayList<>();
        Stream.concat(
                        member.peerUrls().stream().flatMap(url -> UrlRules.problem("peer URL", url).stream()),
                        member.clientUrls().stream().flatMap(url -> UrlRules.problem("client URL", url).stream()))
                .map(why -> new Refusal("url-well-formed", why, "Specify it as http://host:port or https://host:port"))
                .forEach(found::add);
        if (machine.process() == ProcessKind.MANUAL) {
            return found;
        }
        if (control.isInUse(member)) {
            found.add(new Refusal("member-stopped", name + " is running", "Stop it, and move its data directory"));
        } else if (!new DataDirectory(machine.dataDirectory()).isVacant()) {
            found.add(new Refusal(
                    "data-directory-free",
                    "data directory " + machine.dataDirectory() + " is not empty",
                    "Move it, or configure another one as " + key + "dataDirectory"));
        }
        control.programFailure(member, UnaryOperator.identity())
                .ifPresent(why -> found.add(new Refusal("program-runs", why, "Correct " + key + "program or unit")));
        found.addAll(ListenChecks.foreignUrls(machine));
        machine.listenUrls().stream()
                .flatMap(url -> ListenChecks.portInUse(url).stream())
                .forEach(found::add);
        if (machine.listenPeerUrls().isPresent()) {
            member.peerUrls().stream()
                    .filter(url -> ListenChecks.listenFailure(url, 0).isPresent())
                    .forEach(url -> note("peer URL " + url + " is not an address of this machine; it has to lead to "
                            + joined(machine.listenPeerUrls().get())));
        }
        return found;
    }

    /** A start of the member, which is undone if it fails. */
    private final class Creation {

        private final ClusterConnection cluster;
        private final MachineSettings machine;
        private final Machines control;
        /** What the start makes: files before their directories. */
        private final List<Path> absent;

        private final @Nullable String environment;
        private boolean hasStarted;

        Creation(ClusterConnection cluster, MachineSettings machine, Machines control) {
            this.cluster = cluster;
            this.machine = machine;
            this.control = control;
            this.absent = machine.files().stream()
                    .flatMap(file -> Stream.iterate(file, Objects::nonNull, Path::getParent))
                    .filter(Files::notExists)
                    .distinct()
                    .sorted(Comparator.reverseOrder())
                    .toList();
            this.environment = environment(machine);
        }

        private static @Nullable String environment(MachineSettings machine) {
            try {
                return machine.process() == ProcessKind.SYSTEMD && Files.exists(machine.environmentFile())
                        ? Files.readString(machine.environmentFile())
                        : null;
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read " + machine.environmentFile(), e);
            }
        }

        ClusterFacts run(List<String> steps, @Nullable Credentials root) {
            MemberSpec member = machine.member();
            EtcdSettings settings = cluster.settings().cluster().withEndpoints(member.clientUrls());
            // Another cluster at the same URLs, for which it is not to be taken.
            String token = "created-" + Instant.now().getEpochSecond();
            ClusterId created = new Founding(List.of(member), token, 0, true).cluster();
            try {
                note(steps.get(0) + " ...");
                control.foundAll(List.of(member), token);
                hasStarted = true;
                note(steps.get(1) + " ...");
                ClusterFacts facts = serving(member, created);
                control.endFirstStart(member);
                if (root != null) {
                    note(steps.get(2) + " ...");
                    new ClusterUsers(root, List.of()).enable(settings);
                }
                if (Thread.currentThread().isInterrupted()) {
                    throw new IllegalStateException("interrupted");
                }
                return facts;
            } catch (RuntimeException e) {
                String why = Thread.interrupted() ? "interrupted" : String.valueOf(e.getMessage());
                throw new IllegalStateException(why + undo(created), e);
            }
        }

        private ClusterFacts serving(MemberSpec member, ClusterId created) {
            EtcdObserver observer = cluster.observerAt(member.clientUrls());
            return Waiting.until(
                    timeout,
                    () -> {
                        // A unit that is to start is not running yet.
                        if (machine.process() == ProcessKind.LOCAL
                                && !control.isRunning(member).orElse(true)) {
                            throw silent(member, " has exited");
                        }
                        return ClusterRestore.seen(observer)
                                .filter(seen -> seen.cluster().equals(created)
                                        && !seen.healthyVoters().isEmpty());
                    },
                    () -> silent(member, " does not serve after " + timeout.toSeconds() + " s"));
        }

        private IllegalStateException silent(MemberSpec member, String why) {
            return new IllegalStateException(name + why + LogExplanation.text(control.endOfLog(member)));
        }

        /** Stops the member and deletes what its start has made. Returns a remark. */
        private String undo(ClusterId created) {
            if (machine.process() == ProcessKind.MANUAL) {
                return "\nStop " + name + " and move its data before the next attempt";
            }
            try {
                if (hasStarted) {
                    control.stop(machine.member());
                }
                AtomicReference<String> remark = new AtomicReference<>("");
                DirectoryLock.holding(machine.dataDirectory(), () -> remark.set(deleted(created)));
                return "\n" + name + remark.get();
            } catch (RuntimeException e) {
                return "\nStop " + name + " and move its data: " + e.getMessage();
            }
        }

        private String deleted(ClusterId created) {
            // Started by another command meanwhile, it is not of this one.
            if (control.isInUse(machine.member())) {
                return " is running; it was left as it is";
            }
            Optional<ClusterId> owner = control.owner(machine.member()).map(DataOwner::cluster);
            // Its clients may have written since it served.
            Optional<Path> kept = owner.filter(created::equals)
                    .flatMap(own -> new DataDirectory(machine.dataDirectory()).setAside(Instant.now()));
            try {
                deleteFiles(owner.isEmpty() && hasStarted);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return " does not run, and its files were deleted"
                    + kept.map(path -> " but its data, now in " + path).orElse("")
                    + (new DataDirectory(machine.dataDirectory()).isVacant()
                            ? ""
                            : "; data that it did not make were left in " + machine.dataDirectory());
        }

        /** @param isOwn whether the start has made what is in the data directory; other data are left as they are */
        private void deleteFiles(boolean isOwn) throws IOException {
            if (isOwn && Files.isDirectory(machine.dataDirectory())) {
                try (Stream<Path> data = Files.list(machine.dataDirectory())) {
                    data.forEach(Folders::delete);
                }
            }
            for (Path each : absent) {
                delete(each);
            }
            if (environment != null) {
                Files.writeString(machine.environmentFile(), environment);
            }
        }

        private static void delete(Path path) throws IOException {
            try {
                boolean unused = Files.deleteIfExists(path);
            } catch (DirectoryNotEmptyException e) {
                // Another process has made files there.
                return;
            }
        }
    }
}
