package io.understudy.cluster.machine;

import io.understudy.cluster.machine.OwnMachines.ProcessControl;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Members as units of this machine's systemd, each with an environment file.
 *
 * <p>Invariant DP16: hardened systemd units can be installed, added, restarted, replaced, recovered and restored.
 */
record SystemdControl(String systemctl, String journalctl) implements ProcessControl {

    private static final Logger LOG = LoggerFactory.getLogger(SystemdControl.class);

    /** systemd itself kills what has not stopped after 90 s. */
    private static final Duration DEADLINE = Duration.ofSeconds(100);

    /** Deadline of queries, which wait for systemd alone. */
    private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(3);

    /** systemctl does not quote: the value ends before the next flag. */
    private static final Pattern DATA_DIRECTORY = Pattern.compile("--?data-dir[= ](.+?)(?= -| ;|$)");

    /** Variable with which a member starts without data. Its name begins those of token and state, too. */
    private static final String INITIAL_CLUSTER = "ETCD_INITIAL_CLUSTER";

    /** States of a running unit; one of type notify is activating until etcd joins. */
    private static final Set<String> RUNNING = Set.of("active", "activating", "reloading", "deactivating");

    @Override
    public void run(MachineSettings machine, EtcdFlags flags) {
        // The unit would start with other data than those that were checked.
        programFailure(machine).ifPresent(why -> {
            throw new IllegalStateException(why);
        });
        AtomicFile.write(machine.environmentFile(), String.join("\n", flags.variables()) + "\n");
        resetFailed(machine);
        var unused = systemctl("start", "--no-block", machine.unit());
    }

    @Override
    public boolean keepsFirstStart(MachineSettings machine) {
        return environment(machine).stream().anyMatch(line -> line.startsWith(INITIAL_CLUSTER + "="));
    }

    /** Without the variables of the first start, etcd ends if its data directory is missing. */
    @Override
    public void endFirstStart(MachineSettings machine) {
        String others = environment(machine).stream()
                .filter(line -> !line.startsWith(INITIAL_CLUSTER))
                .map(line -> line + "\n")
                .collect(Collectors.joining());
        AtomicFile.write(machine.environmentFile(), others + INITIAL_CLUSTER + "_STATE=\"existing\"\n");
        LOG.atInfo()
                .addKeyValue("unit", machine.unit())
                .addKeyValue("path", machine.environmentFile())
                .log("unit starts with its data only");
    }

    private static List<String> environment(MachineSettings machine) {
        try {
            return Files.exists(machine.environmentFile()) ? Files.readAllLines(machine.environmentFile()) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + machine.environmentFile(), e);
        }
    }

    /** Clears earlier failures, which would prevent a start. */
    private void resetFailed(MachineSettings machine) {
        try {
            var unused = systemctl("reset-failed", machine.unit());
        } catch (CommandFailedException e) {
            LOG.atDebug()
                    .addKeyValue("unit", machine.unit())
                    .addKeyValue("cause", e.getMessage())
                    .log("reset-failed failed");
        }
    }

    @Override
    public List<String> endOfLog(MachineSettings machine, int lines) {
        try {
            return Command.of(List.of(
                            journalctl, "--no-pager", "--output=cat", "--lines=" + lines, "--unit=" + machine.unit()))
                    .run(DEADLINE)
                    .lines()
                    .toList();
        } catch (CommandFailedException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public OptionalLong pid(MachineSettings machine) {
        long pid = Long.parseLong(mainPid(machine));
        return pid > 0 ? OptionalLong.of(pid) : OptionalLong.empty();
    }

    private String mainPid(MachineSettings machine) {
        return show(machine, "MainPID");
    }

    @Override
    public void stop(MachineSettings machine) {
        var unused = systemctl("stop", machine.unit());
    }

    @Override
    public boolean isRunning(MachineSettings machine) {
        return RUNNING.contains(show(machine, "ActiveState"));
    }

    /**
     * Returns a unit's fault: missing, masked, wrong, or started with other settings than the machine's. The program of
     * a unit may be visible to that unit only.
     */
    @Override
    public Optional<String> programFailure(MachineSettings machine) {
        String state = show(machine, "LoadState");
        if (!state.equals("loaded")) {
            return Optional.of("the LoadState of unit " + machine.unit() + " is " + state);
        }
        // Listed as "PATH (ignore_errors=no)".
        if (!show(machine, "EnvironmentFiles").contains(machine.environmentFile() + " (")) {
            return Optional.of("unit " + machine.unit() + " has no EnvironmentFile=" + machine.environmentFile());
        }
        // A flag has precedence over the variable in that file.
        Matcher directory = DATA_DIRECTORY.matcher(show(machine, "ExecStart"));
        return directory.find()
                        && !Path.of(directory.group(1))
                                .equals(machine.dataDirectory().toAbsolutePath())
                ? Optional.of("unit " + machine.unit() + " has --data-dir " + directory.group(1)
                        + " in ExecStart, not dataDirectory " + machine.dataDirectory())
                : Optional.empty();
    }

    private String show(MachineSettings machine, String property) {
        return systemctl(QUESTION_DEADLINE, "show", "--property=" + property, "--value", machine.unit())
                .strip();
    }

    private String systemctl(String... arguments) {
        return systemctl(DEADLINE, arguments);
    }

    private String systemctl(Duration deadline, String... arguments) {
        List<String> line = new ArrayList<>(List.of(systemctl));
        line.addAll(List.of(arguments));
        return Command.of(line).run(deadline);
    }

    /** Files that are written completely or not at all, also on a crash. */
    private static final class AtomicFile {

        private AtomicFile() {}

        static void write(Path file, String text) {
            Path folder = file.toAbsolutePath().resolveSibling(".").normalize();
            Path part = folder.resolve(file.getFileName() + ".new");
            try {
                Files.createDirectories(folder);
                try (FileChannel channel = FileChannel.open(
                        part,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
                    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
                    while (bytes.hasRemaining()) {
                        channel.write(bytes);
                    }
                    channel.force(true);
                }
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot write " + file, e);
            }
        }
    }
}
