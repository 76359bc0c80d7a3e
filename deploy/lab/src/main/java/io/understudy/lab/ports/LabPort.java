package io.understudy.lab.ports;

import java.util.Arrays;
import java.util.List;

/**
 * All ports of the lab, from which flags, checks, configuration and endpoints derive.
 *
 * <p>At an <em>internal</em> port servers talk to each other. They store it, as etcd does with peer URLs: a data
 * directory in which it was used can't be started with another.
 */
public enum LabPort {
    GATEWAY("gateway", "--gateway-port", 2379, false, "etcd v3 API (gRPC, JSON), writes forwarded; /metrics"),
    GATEWAY_REST("gateway", "--gateway-rest-port", 8080, false, "dashboard, REST, /openapi.json"),
    VOTER_1("core-1", "--core-1-port", 23791, false, "etcd, client"),
    VOTER_2("core-2", "--core-2-port", 23792, false, "etcd, client"),
    VOTER_3("core-3", "--core-3-port", 23793, false, "etcd, client"),
    LEARNER("core-4", "--core-4-port", 23794, false, "etcd, client of the learner, serializable reads only"),
    VOTER_1_PEER("core-1", "--core-1-peer-port", 23801, true, "etcd, peer"),
    VOTER_2_PEER("core-2", "--core-2-peer-port", 23802, true, "etcd, peer"),
    VOTER_3_PEER("core-3", "--core-3-peer-port", 23803, true, "etcd, peer"),
    LEARNER_PEER("core-4", "--core-4-peer-port", 23804, true, "etcd, peer of the learner"),
    DR("dr-1", "--dr-port", 24791, false, "etcd of the DR cluster, client"),
    DR_PEER("dr-1", "--dr-peer-port", 24801, true, "etcd of the DR cluster, peer"),
    KAFKA("kafka", "--kafka-port", 29092, false, "Kafka, clients"),
    KAFKA_CONTROLLER("kafka", "--kafka-controller-port", 29093, true, "Kafka, controller"),
    EDGE("edge-1", "--edge-port", 25791, false, "client port of the edge cluster, fed from Kafka"),
    EDGE_PEER("edge-1", "--edge-peer-port", 25801, true, "etcd of the edge cluster, peer"),
    EDGE_GATEWAY("edge-gateway", "--edge-gateway-port", 12379, false, "etcd v3 API, fed from Kafka, serializable only"),
    EDGE_GATEWAY_REST("edge-gateway", "--edge-gateway-rest-port", 18080, false, "dashboard, REST, /openapi.json"),
    MIRROR("mirror", "--mirror-port", 8081, false, "status, /readyz, /metrics"),
    SUPERVISOR("supervisor", "--supervisor-port", 8082, false, "state, /readyz, /metrics");

    private final String part;
    private final String flag;
    private final int standard;
    private final boolean internal;
    private final String serves;

    LabPort(String part, String flag, int standard, boolean internal, String serves) {
        this.part = part;
        this.flag = flag;
        this.standard = standard;
        this.internal = internal;
        this.serves = serves;
    }

    /** Returns the part of the lab that listens here. */
    public String part() {
        return part;
    }

    /** Returns the command-line flag of the port. */
    public String flag() {
        return flag;
    }

    /** Returns the number without a flag. */
    public int standard() {
        return standard;
    }

    /** Whether the port is for traffic between servers, and thus fixed per data directory. */
    public boolean internal() {
        return internal;
    }

    /** Returns the service at this port. */
    public String serves() {
        return serves;
    }

    private boolean needsKafka() {
        return List.of(KAFKA.part, EDGE.part, EDGE_GATEWAY.part).contains(part);
    }

    /** Returns the ports in use with or without Kafka. */
    public static List<LabPort> used(boolean withKafka) {
        return Arrays.stream(values())
                .filter(port -> withKafka || !port.needsKafka())
                .toList();
    }
}
