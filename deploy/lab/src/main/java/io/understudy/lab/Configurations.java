package io.understudy.lab;

import io.understudy.lab.ports.LabPort;
import io.understudy.tls.TlsFiles;
import java.util.List;
import java.util.stream.Collectors;

/** The configuration files of the lab's gateways, mirror and core cluster. */
final class Configurations {

    /** The topic that holds the core cluster's commits. */
    static final String TOPIC = "understudy";

    private static final List<LabPort> CORE =
            List.of(LabPort.VOTER_1, LabPort.VOTER_2, LabPort.VOTER_3, LabPort.LEARNER);
    private static final String MIRROR = "mirror";

    private Configurations() {}

    /** @param kafka whether there is a second gateway, fed from Kafka */
    static String gateway(LabNetwork network, String part, boolean kafka) {
        return """
                # Written by 'understudy lab' at each start.
                name: lab-gateway
                listen: %s
                rest:
                  listen: %s%s
                writes: forward
                dashboard:
                  mirrors: [%s]
                  supervisors: [%s]%s%s
                source:
                  endpoints: [%s]%s%s
                """.formatted(
                        network.address(LabPort.GATEWAY),
                        network.address(LabPort.GATEWAY_REST),
                        listener(network, part),
                        network.url(LabPort.MIRROR),
                        network.url(LabPort.SUPERVISOR),
                        kafka ? "\n  gateways: [" + network.url(LabPort.EDGE_GATEWAY_REST) + "]" : "",
                        client(2, network, part),
                        urls(network),
                        client(2, network, part, LabUsers.GATEWAY),
                        forOthers(network, part));
    }

    static String edgeGateway(LabNetwork network, String part) {
        return """
                # Written by 'understudy lab' at each start.
                name: lab-edge-gateway
                listen: %s
                rest:
                  listen: %s%s
                source:
                  kafka:
                    bootstrap.servers: %s%s
                    topic: %s
                """.formatted(
                        network.address(LabPort.EDGE_GATEWAY),
                        network.address(LabPort.EDGE_GATEWAY_REST),
                        listener(network, part),
                        network.address(LabPort.KAFKA),
                        kafkaClient(4, network, part),
                        TOPIC);
    }

    static String mirror(LabNetwork network, boolean kafka) {
        String dr = """
                # Written by 'understudy lab' at each start.
                status:
                  listen: %s%s
                mirrors:
                  dr:
                    source:
                      endpoints: [%s]%s
                    target:
                      etcd:
                        endpoints: [%s]%s
                """.formatted(
                        network.address(LabPort.MIRROR),
                        listener(network, MIRROR),
                        urls(network),
                        client(6, network, MIRROR, LabUsers.MIRROR),
                        network.url(LabPort.DR),
                        client(8, network, MIRROR, LabUsers.MIRROR));
        return kafka ? dr + mirrorToKafka(network) + mirrorFromKafka(network) : dr;
    }

    private static String mirrorToKafka(LabNetwork network) {
        return """
                  kafka:
                    source:
                      endpoints: [%s]%s
                    target:
                      kafka:
                        bootstrap.servers: %s%s
                        topic: %s
                """.formatted(
                        urls(network),
                        client(6, network, MIRROR, LabUsers.MIRROR),
                        network.address(LabPort.KAFKA),
                        kafkaClient(8, network, MIRROR),
                        TOPIC);
    }

    private static String mirrorFromKafka(LabNetwork network) {
        return """
                  edge:
                    source:
                      kafka:
                        bootstrap.servers: %s%s
                        topic: %s
                    target:
                      etcd:
                        endpoints: [%s]%s
                """.formatted(
                        network.address(LabPort.KAFKA),
                        kafkaClient(8, network, MIRROR),
                        TOPIC,
                        network.url(LabPort.EDGE),
                        client(8, network, MIRROR));
    }

    /** Returns the configuration of the core cluster, for its commands and supervisor. */
    static String cluster(LabNetwork network, String part) {
        return """
                # Written by 'understudy lab' at each start.
                cluster:
                  endpoints: [%s]%s
                shape:
                  voters: 3
                  standbys: 0
                supervisor:
                  listen: %s%s
                """.formatted(
                        urls(network),
                        client(2, network, part, LabUsers.SUPERVISOR),
                        network.address(LabPort.SUPERVISOR),
                        listener(network, part).replace("\n", "\n  "));
    }

    /** Returns TLS settings of all the process's ports, to follow the last nested line. */
    private static String listener(LabNetwork network, String part) {
        TlsFiles files = network.files(part);
        return files == null
                ? ""
                : "\ntls: {trusted: '%s', certificate: '%s', key: '%s', clients: required}"
                        .formatted(files.trusted(), files.certificate(), files.key());
    }

    /** Returns TLS settings of a client at that indentation. */
    private static String client(int indent, LabNetwork network, String part) {
        TlsFiles files = network.files(part);
        return files == null
                ? ""
                : "\n%stls: {trusted: '%s', certificate: '%s', key: '%s'}"
                        .formatted(" ".repeat(indent), files.trusted(), files.certificate(), files.key());
    }

    /** Returns the same with the login of a user. */
    private static String client(int indent, LabNetwork network, String part, String user) {
        LabUsers users = network.users();
        String login = users == null
                ? ""
                : "\n%suser: %s\n%1$spasswordFile: '%s'".formatted(" ".repeat(indent), user, users.passwordFile(user));
        return client(indent, network, part) + login;
    }

    /** Returns the certificate settings of a gateway for proxied calls, with an empty subject. */
    private static String forOthers(LabNetwork network, String part) {
        TlsFiles files = network.files(part + "-clients");
        return files == null
                ? ""
                : "\n  clients:\n    tls: {trusted: '%s', certificate: '%s', key: '%s'}"
                        .formatted(files.trusted(), files.certificate(), files.key());
    }

    private static String kafkaClient(int indent, LabNetwork network, String part) {
        LabCertificates certificates = network.certificates();
        return certificates == null
                ? ""
                : "\n%spropertiesFile: '%s'".formatted(" ".repeat(indent), certificates.kafkaClient(part));
    }

    private static String urls(LabNetwork network) {
        return CORE.stream().map(port -> network.url(port).toString()).collect(Collectors.joining(", "));
    }
}
