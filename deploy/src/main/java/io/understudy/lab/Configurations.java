package io.understudy.lab;

import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import java.util.List;
import java.util.stream.Collectors;

/** The files by which the lab's gateway and mirror are told what to do: as anyone would write them for such clusters. */
final class Configurations {

    /** The topic that holds the core cluster's commits. */
    static final String TOPIC = "understudy";

    private static final List<LabPort> CORE =
            List.of(LabPort.VOTER_1, LabPort.VOTER_2, LabPort.VOTER_3, LabPort.LEARNER);

    private Configurations() {}

    static String gateway(LabPorts ports) {
        return """
                # Written by 'understudy lab' at each start.
                source:
                  endpoints: [%s]
                listen:
                  host: %s
                  apiPort: %d
                  webPort: %d
                """.formatted(
                        urls(ports), LabPorts.HOST, ports.number(LabPort.GATEWAY), ports.number(LabPort.GATEWAY_WEB));
    }

    static String mirror(LabPorts ports, boolean kafka) {
        return "";
    }

    private static String urls(LabPorts ports) {
        return CORE.stream().map(port -> ports.url(port).toString()).collect(Collectors.joining(", "));
    }
}
