package io.understudy.local.container;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.PullImageResultCallback;
import com.github.dockerjava.api.exception.NotFoundException;
import io.understudy.local.kafka.KafkaProgram;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerHost;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.utility.DockerImageName;

/**
 * Runs servers in containers of one image. A command's program is looked for by its file name on the image's own PATH.
 *
 * <p>Testcontainers removes them when this JVM is gone, unless its helper for that is switched off.
 */
public final class Containers implements ServerHost {

    private static final Logger LOG = LoggerFactory.getLogger(Containers.class);
    private static final long FETCH_SECONDS = 60;

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

    /** Whether the image is there, or could be fetched within a minute. Requires an engine. */
    public static boolean canHave(String image) {
        DockerClient docker = DockerClientFactory.instance().client();
        DockerImageName name = DockerImageName.parse(image);
        try {
            docker.inspectImageCmd(image).exec();
            return true;
        } catch (NotFoundException notThere) {
            try (PullImageResultCallback fetching = docker.pullImageCmd(name.getUnversionedPart())
                    .withTag(name.getVersionPart())
                    .exec(new PullImageResultCallback())) {
                return fetching.awaitCompletion(FETCH_SECONDS, TimeUnit.SECONDS);
            } catch (RuntimeException | IOException e) {
                LOG.atInfo()
                        .addKeyValue("name", image)
                        .addKeyValue("cause", e.getMessage())
                        .log("image pull failed");
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }

    @Override
    public ServerProcess prepare(ServerCommand command) {
        return new ContainerProcess(image, command);
    }

    @Override
    public String toString() {
        return "containers of " + image;
    }

    /** The broker of the image {@code apache/kafka}, or of one with the same scripts below {@code /opt/kafka/bin}. */
    public static final class KafkaImage implements KafkaProgram {

        private static final String BIN = "/opt/kafka/bin/";

        @Override
        public Path program() {
            return Path.of("/bin/sh");
        }

        @Override
        public List<String> format(Path settings, String clusterId, boolean isController) {
            return script(
                    settings,
                    "kafka-storage.sh format " + (isController ? "--standalone " : "") + "-t " + clusterId + " -c");
        }

        @Override
        public List<String> run(Path settings) {
            return script(settings, "kafka-server-start.sh");
        }

        /** Runs a script, with its log directory below the server's folder, which is writable. */
        private static List<String> script(Path settings, String line) {
            return List.of(
                    "-c",
                    "export LOG_DIR=\"$2\" KAFKA_HEAP_OPTS=-Xmx512m; exec " + BIN + line + " \"$1\"",
                    "kafka",
                    settings.toString(),
                    settings.resolveSibling("logs").toString());
        }
    }
}
