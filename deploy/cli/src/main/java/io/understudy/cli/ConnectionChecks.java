package io.understudy.cli;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.SourceSettings;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.takeover.TakeOver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Connects to the clusters that a configuration names. */
final class ConnectionChecks {

    private static final Duration POLL = Duration.ofMillis(20);

    private final Duration timeout;
    private final List<String> problems = new ArrayList<>();

    /** @param timeout for a cluster to respond */
    ConnectionChecks(Duration timeout) {
        this.timeout = timeout;
    }

    List<String> problems() {
        return List.copyOf(problems);
    }

    void gateway(GatewaySettings settings) {
        if (settings.source() instanceof SourceSettings.Etcd etcd) {
            etcd("source.endpoints", etcd.cluster(), true);
            SourceSettings.Standby standby = etcd.standby();
            if (standby != null) {
                etcd("source.standby.endpoints", standby.cluster(), true);
            }
        } else if (settings.source() instanceof SourceSettings.Kafka kafka) {
            kafka("source.kafka", kafka.kafka());
        }
    }

    void mirror(MirrorSettings.Mirror mirror) {
        if (mirror.reversed().isPresent()) {
            try (TakeOver clusters = new TakeOver(mirror, null, null, timeout)) {
                problems.addAll(clusters.problems());
            }
            return;
        }
        String place = "mirrors." + mirror.name();
        if (mirror.source() instanceof MirrorSettings.Source.Etcd source) {
            etcd(place + ".source.endpoints", source.cluster(), true);
        } else if (mirror.source() instanceof MirrorSettings.Source.Kafka source) {
            kafka(place + ".source.kafka", source.kafka());
        }
        if (mirror.target() instanceof MirrorSettings.Target.Etcd target) {
            etcd(place + ".target.etcd.endpoints", target.cluster(), false);
        } else if (mirror.target() instanceof MirrorSettings.Target.Kafka target) {
            kafka(place + ".target.kafka", target.options().kafka());
        }
    }

    /** @param isWatched whether a voting member is needed */
    void etcd(String key, EtcdSettings settings, boolean isWatched) {
        long began = System.nanoTime();
        try (EtcdCluster source = EtcdCluster.connect(settings, new SimpleMeterRegistry())) {
            boolean known = false;
            boolean late = false;
            while (!known && !late) {
                LockSupport.parkNanos(POLL.toNanos());
                late = System.nanoTime() - began > timeout.toNanos();
                ClusterView view = source.view();
                known = !view.members().isEmpty() && view.unidentified().isEmpty();
                String outage = source.unreachable();
                if (outage != null) {
                    problems.add(outage);
                    return;
                }
            }
            if (source.view().members().isEmpty()) {
                problems.add(key + ": no response within " + timeout.toMillis() + " ms from " + settings.endpoints());
            } else if (isWatched) {
                source.watchProblem().ifPresent(problems::add);
            }
        }
    }

    private void kafka(String key, KafkaSettings settings) {
        new KafkaClients(settings, "understudy-config-check")
                .unreachable(timeout)
                .ifPresent(why -> problems.add(key + ": no response from " + settings.bootstrapServers() + ": " + why));
    }
}
