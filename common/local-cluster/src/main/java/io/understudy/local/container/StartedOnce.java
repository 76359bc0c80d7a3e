package io.understudy.local.container;

import com.github.dockerjava.api.DockerClient;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;

/**
 * A container counts as started even if it has ended already: whether its server serves, and why not, is judged from the
 * server itself, the same way wherever it runs.
 */
final class StartedOnce extends StartupCheckStrategy {

    @Override
    public StartupStatus checkStartupState(DockerClient client, String containerId) {
        return "created".equals(getCurrentState(client, containerId).getStatus())
                ? StartupStatus.NOT_YET_KNOWN
                : StartupStatus.SUCCESSFUL;
    }
}
