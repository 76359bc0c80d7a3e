package io.understudy.lab.ports;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.lab.failure.LabException;
import io.understudy.lab.ports.LabPorts.PortCheck;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class PortCheckTest {

    private final PortCheck check = new PortCheck(PortHolders.ofThisMachine());

    @Test
    void freePortsPass() {
        try (FreePorts free = FreePorts.take(LabPort.values().length)) {
            Map<LabPort, Integer> chosen = new EnumMap<>(LabPort.class);
            for (LabPort port : LabPort.values()) {
                chosen.put(port, free.get(chosen.size()));
            }
            LabPorts ports = new LabPorts(chosen);

            assertThatCode(() -> check.requireFree(ports, LabPort.used(true))).doesNotThrowAnyException();
        }
    }

    @Test
    void aPortInUseIsNamedWithItsPartItsFlagAndTheProcessThatHoldsIt() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            LabPorts ports = LabPorts.standard().with(Map.of(LabPort.DR, taken.getLocalPort()));

            assertThatThrownBy(() -> check.requireFree(ports, List.of(LabPort.DR)))
                    .isInstanceOf(LabException.class)
                    .hasMessageContainingAll(
                            "port " + taken.getLocalPort(),
                            "dr-1",
                            "--dr-port",
                            "process " + ProcessHandle.current().pid(),
                            "java");
        }
    }

    @Test
    void allPortsInUseAreReportedTogether() throws IOException {
        try (ServerSocket first = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket second = new ServerSocket(0)) {
            LabPorts ports = LabPorts.standard()
                    .with(Map.of(LabPort.DR, first.getLocalPort(), LabPort.KAFKA, second.getLocalPort()));

            assertThatThrownBy(() -> check.requireFree(ports, List.of(LabPort.DR, LabPort.KAFKA)))
                    .hasMessageContainingAll("--dr-port", "--kafka-port");
        }
    }
}
