package io.understudy.lab;

import io.understudy.lab.ports.LabPort;
import java.nio.file.Path;
import java.util.Map;

/**
 * Settings of a lab.
 *
 * @param fresh whether to delete the data of an earlier lab
 * @param kafka whether Kafka, the mirror to it and its readers are part of the lab
 * @param tls whether all parts use TLS with client certificates
 * @param auth whether authentication is enabled in the core and the DR cluster
 * @param exitAfterCheck whether to stop after the self-check
 * @param ports those that were chosen; the others are as in the run before, or standard
 */
public record LabSettings(
        Path dataDirectory,
        boolean fresh,
        boolean kafka,
        boolean tls,
        boolean auth,
        boolean exitAfterCheck,
        Map<LabPort, Integer> ports) {

    public LabSettings {
        ports = Map.copyOf(ports);
    }
}
