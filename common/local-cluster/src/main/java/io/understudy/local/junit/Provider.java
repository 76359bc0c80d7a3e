package io.understudy.local.junit;

import io.understudy.local.container.Containers;
import io.understudy.local.container.Containers.KafkaImage;
import io.understudy.local.etcd.LocalEtcdBuilder;
import io.understudy.local.kafka.LocalKafkaBuilder;
import java.util.Locale;
import org.opentest4j.TestAbortedException;

/**
 * Host of the servers of tests: processes unless {@code -Detcd.provider=testcontainers} or {@code
 * -Dkafka.provider=testcontainers} is set.
 */
enum Provider {
    PROCESS,
    TESTCONTAINERS;

    private static final String ETCD_IMAGE = "gcr.io/etcd-development/etcd:v3.5.30";
    private static final String KAFKA_IMAGE = "apache/kafka:4.1.2";

    /** The value of the server's property. */
    static Provider of(String server) {
        String property = server + ".provider";
        String value = System.getProperty(property, "process");
        try {
            return valueOf(value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "-D" + property + " must be process or testcontainers, is '" + value + "'", e);
        }
    }

    LocalEtcdBuilder configure(LocalEtcdBuilder builder) {
        return this == PROCESS ? builder : builder.host(containers("etcd", ETCD_IMAGE));
    }

    LocalKafkaBuilder configure(LocalKafkaBuilder builder) {
        return this == PROCESS ? builder : builder.program(new KafkaImage()).host(containers("kafka", KAFKA_IMAGE));
    }

    private static Containers containers(String server, String defaultImage) {
        String image = System.getProperty(server + ".image", defaultImage);
        if (!Containers.areAvailable()) {
            throw skipped(server + " in a container requires a reachable Docker engine");
        }
        if (!Containers.canHave(image)) {
            throw skipped("image " + image + " is not available locally and cannot be pulled");
        }
        return Containers.of(image);
    }

    private static TestAbortedException skipped(String why) {
        // Reports drop the reason when a whole class is skipped.
        System.err.println("skipped: " + why);
        return new TestAbortedException("skipped: " + why);
    }
}
