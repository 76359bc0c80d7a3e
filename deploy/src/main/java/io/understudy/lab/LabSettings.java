package io.understudy.lab;

import io.understudy.lab.ports.LabPort;
import java.nio.file.Path;
import java.util.Map;

/**
 * What the user asked for.
 *
 * @param dataDirectory where everything is kept
 * @param fresh whether to delete what an earlier lab left there
 * @param kafka whether Kafka, the mirror to it and what is fed from it are part of the lab
 * @param tls whether all parts speak TLS, and ask each other for certificates
 * @param auth whether the core and the DR cluster ask who asks
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
