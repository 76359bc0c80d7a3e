package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.ClusterId;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/**
 * Endpoints of two clusters in one configuration: a mistake that must not mix their data.
 *
 * <p>Tests invariant E5.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
final class AnotherClusterIT {

    @RegisterExtension
    static final EtcdExtension meant = EtcdExtension.voters(1).named("meant");

    @RegisterExtension
    static final EtcdExtension other = EtcdExtension.voters(1).named("other");

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** A probe may take twice that: the first endpoint is to answer its first one, on a busy machine too. */
    private static final Duration PROBE_INTERVAL = Duration.ofSeconds(4);

    @Test
    void theClusterOfTheFirstEndpointIsMeantAndTheOtherIsSetApartWithOneErrorInTheLog() {
        URI first = meant.cluster().clientUrls().get(0);
        URI second = other.cluster().clientUrls().get(0);
        Logger logger = (Logger) LoggerFactory.getLogger(ViewLog.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        EtcdSettings settings = Binder.with(
                Binder.with(EtcdSettings.of(first, second), "probeInterval", PROBE_INTERVAL),
                "requestTimeout",
                PROBE_INTERVAL.multipliedBy(2));
        try (EtcdCluster cluster = EtcdCluster.connect(settings, meters)) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(cluster.view().foreign())
                            .containsExactly(new ClusterView.Foreign(Endpoint.of(second), idOf(other))));
            double probes = probes(meters);
            await().atMost(PATIENCE).until(() -> probes(meters) >= probes + 4);

            assertThat(cluster.view().clusterId()).isEqualTo(idOf(meant));
            for (Duty duty : Duty.values()) {
                assertThat(cluster.endpointsFor(duty)).containsExactly(Endpoint.of(first));
            }
            assertThat(List.copyOf(logged.list))
                    .filteredOn(event -> event.getLevel() == Level.ERROR)
                    .singleElement()
                    .satisfies(event -> assertThat(event.getFormattedMessage() + event.getKeyValuePairs())
                            .contains(
                                    "endpoint excluded: unexpected cluster ID",
                                    Endpoint.of(second).toString())
                            .contains(idOf(other).toString(), idOf(meant).toString()));
        } finally {
            logger.detachAppender(logged);
        }
    }

    private static double probes(SimpleMeterRegistry meters) {
        // One timer per outcome.
        return meters.get("understudy.etcd.probes").timers().stream()
                .mapToLong(Timer::count)
                .sum();
    }

    private static ClusterId idOf(EtcdExtension cluster) {
        return new ClusterId(cluster.cluster().leader().status().clusterId());
    }
}
