package io.understudy.local.container;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.ConflictException;
import com.github.dockerjava.api.exception.NotModifiedException;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.utility.DockerImageName;

/**
 * A server in a container, a new one for each run. Data persists in the server's folder, mounted under the same path.
 * Pausing is SIGSTOP, not the engine's freezer, so that a paused server can be killed.
 */
final class ContainerProcess implements ServerProcess {

    private static final Logger LOG = LoggerFactory.getLogger(ContainerProcess.class);
    private static final int STOP_SECONDS = 10;
    private static final Duration GONE = Duration.ofSeconds(20);

    private final DockerImageName image;
    private final ServerCommand command;
    private volatile @Nullable GenericContainer<?> container;
    private volatile boolean paused;
    private volatile boolean closed;

    ContainerProcess(DockerImageName image, ServerCommand command) {
        this.image = image;
        this.command = command;
    }

    @Override
    public String name() {
        return command.name();
    }

    @Override
    public synchronized void start() {
        if (closed) {
            throw new IllegalStateException(name() + " is closed");
        }
        if (isAlive()) {
            throw new IllegalStateException(name() + " is already running in container " + id());
        }
        remove();
        paused = false;
        GenericContainer<?> made = prepare();
        container = made;
        made.start();
        LOG.atInfo()
                .addKeyValue("name", name())
                .addKeyValue("container", made.getContainerId())
                .log("server started");
    }

    @SuppressWarnings("resource") // the builder's methods return the container that is returned here
    private GenericContainer<?> prepare() {
        String folder = command.directory().toString();
        return new GenericContainer<>(image)
                .withNetworkMode("host")
                .withFileSystemBind(folder, folder, BindMode.READ_WRITE)
                .withWorkingDirectory(folder)
                .withEnv(command.environment())
                .withStartupCheckStrategy(new StartedOnce())
                .withLogConsumer(frame -> append(frame.getBytes()))
                .withCreateContainerCmdModifier(create -> create.withUser(owner())
                        .withEntrypoint(String.valueOf(command.program().getFileName()))
                        .withCmd(command.arguments()));
    }

    /** The folder's owner as {@code uid:gid}, which must be able to delete the server's files. */
    private String owner() {
        try {
            return Files.getAttribute(command.directory(), "unix:uid") + ":"
                    + Files.getAttribute(command.directory(), "unix:gid");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the owner of " + command.directory(), e);
        }
    }

    private void append(byte @Nullable [] output) {
        if (output == null) {
            return;
        }
        try {
            Files.write(command.log(), output, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("name", name())
                    .addKeyValue("file", command.log())
                    .setCause(e)
                    .log("log write failed");
        }
    }

    @Override
    public synchronized void stop() {
        if (!isAlive()) {
            return;
        }
        resume();
        try {
            docker().stopContainerCmd(id()).withTimeout(STOP_SECONDS).exec();
        } catch (NotModifiedException e) {
            LOG.atDebug().addKeyValue("name", name()).log("server already ended");
        }
        awaitGone();
    }

    @Override
    public synchronized void kill() {
        if (!isAlive()) {
            return;
        }
        signal("KILL");
        awaitGone();
    }

    private void awaitGone() {
        Waiting.until(
                GONE,
                () -> isAlive() ? Optional.empty() : Optional.of(name()),
                () -> new IllegalStateException(name() + " is still running after " + GONE.toSeconds() + " s"));
        paused = false;
        LOG.atInfo()
                .addKeyValue("name", name())
                .addKeyValue("status", exitStatus().orElse(-1))
                .log("server ended");
    }

    @Override
    public synchronized void pause() {
        if (!isAlive()) {
            throw new IllegalStateException(name() + " is not running and cannot be paused");
        }
        if (!paused) {
            signal("STOP");
            paused = true;
            LOG.atInfo().addKeyValue("name", name()).log("server paused");
        }
    }

    @Override
    public synchronized void resume() {
        if (paused && isAlive()) {
            signal("CONT");
            LOG.atInfo().addKeyValue("name", name()).log("server resumed");
        }
        paused = false;
    }

    private void signal(String signal) {
        try {
            docker().killContainerCmd(id()).withSignal(signal).exec();
        } catch (ConflictException e) {
            LOG.atDebug()
                    .addKeyValue("name", name())
                    .addKeyValue("signal", signal)
                    .log("signal not sent: server ended");
        }
    }

    @Override
    public boolean isAlive() {
        return state().map(state -> Boolean.TRUE.equals(state.getRunning())).orElse(false);
    }

    @Override
    public boolean isPaused() {
        return paused && isAlive();
    }

    @Override
    public OptionalInt exitStatus() {
        return state().filter(state -> Boolean.FALSE.equals(state.getRunning()))
                .map(InspectContainerResponse.ContainerState::getExitCodeLong)
                .map(status -> OptionalInt.of(status.intValue()))
                .orElse(OptionalInt.empty());
    }

    @Override
    public OptionalLong pid() {
        return state().filter(state -> Boolean.TRUE.equals(state.getRunning()))
                .map(InspectContainerResponse.ContainerState::getPidLong)
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
    }

    private Optional<InspectContainerResponse.ContainerState> state() {
        GenericContainer<?> known = container;
        String id = known == null ? null : known.getContainerId();
        return id == null
                ? Optional.empty()
                : Optional.ofNullable(docker().inspectContainerCmd(id).exec().getState());
    }

    @Override
    public ServerLog log() {
        return new ServerLog(command.log());
    }

    @Override
    public synchronized void close() {
        closed = true;
        kill();
        remove();
    }

    private void remove() {
        GenericContainer<?> known = container;
        if (known != null) {
            container = null;
            known.stop();
        }
    }

    private DockerClient docker() {
        return DockerClientFactory.instance().client();
    }

    private String id() {
        GenericContainer<?> known = container;
        if (known == null) {
            throw new IllegalStateException(name() + " was never started");
        }
        return known.getContainerId();
    }

    /**
     * Counts a container as started even if it has ended. Readiness is checked at the server itself, as on every host.
     */
    private static final class StartedOnce extends StartupCheckStrategy {

        @Override
        public StartupStatus checkStartupState(DockerClient client, String containerId) {
            return "created".equals(getCurrentState(client, containerId).getStatus())
                    ? StartupStatus.NOT_YET_KNOWN
                    : StartupStatus.SUCCESSFUL;
        }
    }
}
