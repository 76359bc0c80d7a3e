package io.understudy.bench.kafka;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.kafka.LocalKafka;
import java.net.URI;
import java.nio.file.Path;

/** A source of three voters and a learner, a broker, and a cluster of one member behind it, all empty. */
final class Servers implements AutoCloseable {

    static final String TOPIC = "bench";

    private final LocalEtcd source;
    private final LocalEtcd target;
    private final LocalKafka kafka;

    private Servers(LocalEtcd source, LocalEtcd target, LocalKafka kafka) {
        this.source = source;
        this.target = target;
        this.kafka = kafka;
    }

    /** Starts all; they serve when this returns. */
    static Servers start(EtcdBinaries binaries, Path folder) {
        Servers servers = new Servers(
                LocalEtcd.builder()
                        .name("source")
                        .dataDirectory(folder.resolve("source"))
                        .binaries(binaries)
                        .voters(3)
                        .learners(1)
                        .build(),
                LocalEtcd.builder()
                        .name("target")
                        .dataDirectory(folder.resolve("target"))
                        .binaries(binaries)
                        .voters(1)
                        .build(),
                LocalKafka.builder().dataDirectory(folder.resolve("kafka")).build());
        try {
            servers.kafka.start();
            servers.source.start();
            servers.target.start();
            return servers;
        } catch (RuntimeException e) {
            servers.close();
            throw e;
        }
    }

    String bootstrapServers() {
        return kafka.bootstrapServers();
    }

    /** Where the writers are. */
    URI writersUrl() {
        return source.leader().clientUrl();
    }

    /** For clients that only read the source. */
    URI followerUrl() {
        return source.followers().get(0).clientUrl();
    }

    /** Where the target's readers are. */
    URI readersUrl() {
        return target.leader().clientUrl();
    }

    /** As the configuration of the mirror to Kafka names them. */
    String intoKafka(int partitions) {
        return """
                source:
                  endpoints: %s
                target:
                  kafka:
                    bootstrap.servers: %s
                    topic: %s
                    partitions: %d
                """.formatted(source.clientUrls(), bootstrapServers(), TOPIC, partitions);
    }

    /** As the configuration of the mirror from Kafka names them. */
    String fromKafka() {
        return """
                source:
                  kafka:
                    bootstrap.servers: %s
                    topic: %s
                target:
                  etcd:
                    endpoints: %s
                """.formatted(bootstrapServers(), TOPIC, target.clientUrls());
    }

    @Override
    public void close() {
        target.close();
        source.close();
        kafka.close();
    }
}
