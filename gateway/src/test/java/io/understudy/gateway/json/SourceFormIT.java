package io.understudy.gateway.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(120)
final class SourceFormIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source").behindProxies();

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void anUnreachableSourceIsProbedAgain() {
        EtcdMember member = SOURCE.cluster().members().get(0);
        EtcdSettings settings = EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]));
        try (EtcdCluster source = EtcdCluster.connect(settings, new SimpleMeterRegistry());
                SourceForm form = new SourceForm(source)) {
            await().atMost(PATIENCE).until(() -> !source.view().members().isEmpty());
            member.clientProxy().cut();
            form.probe();
            assertThat(form.get()).isEqualTo(JsonForm.GRPC_GATEWAY_1);
            await().during(Duration.ofMillis(300)).until(() -> !form.isKnown());
            member.clientProxy().heal();
            await().atMost(PATIENCE).until(form::isKnown);
        }
    }
}
