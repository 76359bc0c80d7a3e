package io.understudy.lab.ports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.lab.failure.LabException;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LabPortsTest {

    @Test
    void standardPortsAreAllDifferentAndHaveFlagsOfTheirOwn() {
        assertThat(LabPorts.standard().numbers().values()).doesNotHaveDuplicates();
        assertThat(Arrays.stream(LabPort.values()).map(LabPort::flag)).doesNotHaveDuplicates();
        assertThat(LabPorts.standard().address(LabPort.GATEWAY)).isEqualTo("127.0.0.1:2379");
    }

    @Test
    void aChosenPortReplacesThatOneOnly() {
        LabPorts ports = LabPorts.standard().with(Map.of(LabPort.DR, 5000));

        assertThat(ports.number(LabPort.DR)).isEqualTo(5000);
        assertThat(ports.number(LabPort.DR_PEER)).isEqualTo(LabPort.DR_PEER.standard());
    }

    @Test
    void aPortGivenTwiceIsRefusedNamingBothFlags() {
        assertThatThrownBy(() -> LabPorts.standard().with(Map.of(LabPort.DR, LabPort.KAFKA.standard())))
                .isInstanceOf(LabException.class)
                .hasMessageContainingAll("29092", "--dr-port", "--kafka-port");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 65536})
    void whatIsNoPortIsRefusedNamingFlagValueAndRange(int number) {
        assertThatThrownBy(() -> LabPorts.standard().with(Map.of(LabPort.DR, number)))
                .isInstanceOf(LabException.class)
                .hasMessageContainingAll("--dr-port", Integer.toString(number), "1 to 65535");
    }

    @Test
    void withoutKafkaItsPortsAreNotUsed() {
        assertThat(LabPort.used(false))
                .doesNotContain(LabPort.KAFKA, LabPort.KAFKA_CONTROLLER, LabPort.EDGE, LabPort.EDGE_GATEWAY);
        assertThat(LabPort.used(true)).containsExactly(LabPort.values());
    }
}
