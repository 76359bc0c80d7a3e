package io.understudy.local.container;

import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerHost;
import io.understudy.local.process.ServerProcess;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.utility.DockerImageName;

/**
 * Runs servers in containers of one image. A command's program is looked for by its file name on the image's own PATH.
 *
 * <p>Testcontainers removes them when this JVM is gone, unless its helper for that is switched off.
 */
public final class Containers implements ServerHost {

    private final DockerImageName image;

    private Containers(DockerImageName image) {
        this.image = image;
    }

    /** Containers of an image such as {@code gcr.io/etcd-development/etcd:v3.5.30}. */
    public static Containers of(String image) {
        return new Containers(DockerImageName.parse(image));
    }

    /** Whether a Docker engine can be reached. */
    public static boolean areAvailable() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    @Override
    public ServerProcess prepare(ServerCommand command) {
        return new ContainerProcess(image, command);
    }

    @Override
    public String toString() {
        return "containers of " + image;
    }
}
