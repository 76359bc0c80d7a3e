package io.understudy.local.kafka;

import io.understudy.local.certificate.ServerTls;
import io.understudy.local.process.Folders;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files in a broker's folder.
 *
 * @param tls for clients; null for plain text
 * @param users that may log in; null for no authentication
 * @param node id in its cluster
 * @param replicas of each topic
 */
record KafkaFiles(
        Path folder, @Nullable ServerTls tls, @Nullable KafkaUsers users, int node, int replicas) {

    static final String LOGGING = "logback.xml";

    Path settings() {
        return folder.resolve("server.properties");
    }

    Path data() {
        return folder.resolve("data");
    }

    Path log() {
        return folder.resolve("kafka.log");
    }

    boolean isFormatted() {
        return Files.exists(data().resolve("meta.properties"));
    }

    /** The id of the cluster that the storage was formatted for. */
    String clusterId() {
        try (Reader reader = Files.newBufferedReader(data().resolve("meta.properties"))) {
            Properties properties = new Properties();
            properties.load(reader);
            return properties.getProperty("cluster.id");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the cluster id of " + folder, e);
        }
    }

    /**
     * Writes the settings, which may have changed since the last start.
     *
     * @param isController whether it is the controller itself
     */
    void write(int port, int advertisedPort, int controllerPort, boolean isController) {
        Folders.create(folder);
        try {
            Files.writeString(
                    settings(),
                    settings(port, advertisedPort, controllerPort, isController)
                            + (tls == null ? "" : secured(tls))
                            + (users == null ? "" : users.settings()));
            Files.writeString(folder.resolve(LOGGING), logging("kafka.server", "org.apache.kafka.controller"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the Kafka settings to " + folder, e);
        }
    }

    /** A new cluster id in Kafka's own form. */
    static String newClusterId() {
        UUID id = UUID.randomUUID();
        byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        // As an argument it must not look like an option.
        return text.startsWith("-") ? newClusterId() : text;
    }

    private String settings(int port, int advertisedPort, int controllerPort, boolean isController) {
        return """
                process.roles=broker%8$s
                node.id=%6$d
                controller.quorum.bootstrap.servers=127.0.0.1:%3$d
                listeners=%5$s://127.0.0.1:%1$d%9$s
                advertised.listeners=%5$s://127.0.0.1:%2$d%9$s
                controller.listener.names=CONTROLLER
                inter.broker.listener.name=%5$s
                listener.security.protocol.map=%5$s:%5$s,CONTROLLER:PLAINTEXT
                log.dirs=%4$s
                num.partitions=1
                default.replication.factor=%7$d
                min.insync.replicas=%10$d
                # Internal topics have few partitions: each costs files and time.
                offsets.topic.replication.factor=%7$d
                offsets.topic.num.partitions=1
                transaction.state.log.replication.factor=%7$d
                transaction.state.log.min.isr=%10$d
                transaction.state.log.num.partitions=1
                # A transaction that exceeds its timeout ends soon after.
                transaction.abort.timed.out.transaction.cleanup.interval.ms=500
                share.coordinator.state.topic.replication.factor=1
                share.coordinator.state.topic.min.isr=1
                share.coordinator.state.topic.num.partitions=1
                group.initial.rebalance.delay.ms=0
                # A killed member of a group is out of it soon.
                group.min.session.timeout.ms=1000
                # A killed broker is let in again only when its old session is over.
                broker.session.timeout.ms=3000
                broker.heartbeat.interval.ms=500
                log.segment.bytes=67108864
                """.formatted(
                        port,
                        advertisedPort,
                        controllerPort,
                        data(),
                        protocol(),
                        node,
                        replicas,
                        isController ? ",controller" : "",
                        isController ? ",CONTROLLER://127.0.0.1:" + controllerPort : "",
                        replicas / 2 + 1);
    }

    private String protocol() {
        if (users != null) {
            return KafkaUsers.PROTOCOL;
        }
        return tls == null ? "PLAINTEXT" : "SSL";
    }

    /** Joins key and certificate in one file, as Kafka requires. */
    private String secured(ServerTls files) throws IOException {
        Path store = folder.resolve("keystore.pem");
        Files.deleteIfExists(store);
        Files.createFile(store, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(store, Files.readString(files.key()) + Files.readString(files.certificate()));
        return """
                ssl.keystore.type=PEM
                ssl.keystore.location=%s
                ssl.truststore.type=PEM
                ssl.truststore.location=%s
                ssl.client.auth=required
                """.formatted(store, files.authority());
    }

    /** Settings of a program's log, with these loggers at the level info. */
    static String logging(String... loggers) {
        return """
                <configuration>
                  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
                    <encoder><pattern>%d %-5level %logger{30} %msg%n</pattern></encoder>
                  </appender>
                  <root level="warn"><appender-ref ref="console"/></root>
                  LOGGERS
                </configuration>
                """.replace(
                        "LOGGERS",
                        Stream.of(loggers)
                                .map("<logger name=\"%s\" level=\"info\"/>"::formatted)
                                .collect(Collectors.joining()));
    }
}
