package io.understudy.lab;

import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import java.util.List;
import java.util.stream.Collectors;

/** The files by which the lab's gateways and mirror are told what to do: as anyone would write them for such clusters. */
final class Configurations {

    /** The topic that holds the core cluster's commits. */
    static final String TOPIC = "understudy";

    private static final List<LabPort> CORE =
            List.of(LabPort.VOTER_1, LabPort.VOTER_2, LabPort.VOTER_3, LabPort.LEARNER);

    private Configurations() {}

    static String gateway(LabPorts ports) {
        return """
                # Written by 'understudy lab' at each start.
                name: lab-gateway
                listen: %s
                rest:
                  listen: %s
                writes: forward
                source:
                  endpoints: [%s]
                """.formatted(ports.address(LabPort.GATEWAY), ports.address(LabPort.GATEWAY_REST), urls(ports));
    }

    static String edgeGateway(LabPorts ports) {
        return """
                # Written by 'understudy lab' at each start.
                name: lab-edge-gateway
                listen: %s
                rest:
                  listen: %s
                source:
                  kafka:
                    bootstrapServers: %s
                    topic: %s
                """.formatted(
                        ports.address(LabPort.EDGE_GATEWAY),
                        ports.address(LabPort.EDGE_GATEWAY_REST),
                        ports.address(LabPort.KAFKA),
                        TOPIC);
    }

    static String mirror(LabPorts ports, boolean kafka) {
        String dr = """
                # Written by 'understudy lab' at each start.
                status:
                  listen: %s
                mirrors:
                  dr:
                    source:
                      endpoints: [%s]
                    target:
                      etcd:
                        endpoints: [%s]
                """.formatted(ports.address(LabPort.MIRROR), urls(ports), ports.url(LabPort.DR));
        return kafka ? dr + mirrorToKafka(ports) + mirrorFromKafka(ports) : dr;
    }

    private static String mirrorToKafka(LabPorts ports) {
        return """
                  kafka:
                    source:
                      endpoints: [%s]
                    target:
                      kafka:
                        bootstrapServers: %s
                        topic: %s
                """.formatted(urls(ports), ports.address(LabPort.KAFKA), TOPIC);
    }

    private static String mirrorFromKafka(LabPorts ports) {
        return """
                  edge:
                    source:
                      kafka:
                        bootstrapServers: %s
                        topic: %s
                    target:
                      etcd:
                        endpoints: [%s]
                """.formatted(ports.address(LabPort.KAFKA), TOPIC, ports.url(LabPort.EDGE));
    }

    private static String urls(LabPorts ports) {
        return CORE.stream().map(port -> ports.url(port).toString()).collect(Collectors.joining(", "));
    }
}
