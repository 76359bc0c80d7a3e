package io.understudy.gateway.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.EtcdVersion;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.EtcdNotFoundException;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class SourceFormIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source").behindProxies();

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void theDialectFollowsAnUpgradeOfTheSource(@TempDir Path folder) throws Exception {
        EtcdBinaries before = programs("3.5");
        EtcdBinaries after = programs("3.6");
        Path program = Files.createSymbolicLink(folder.resolve("etcd"), before.etcd());
        try (LocalEtcd cluster = LocalEtcd.builder()
                .dataDirectory(folder.resolve("data"))
                .binaries(new EtcdBinaries(program, before.etcdctl(), before.etcdutl(), before.version()))
                .build()) {
            cluster.start();
            EtcdSettings settings = EtcdSettings.of(cluster.clientUrls().toArray(new URI[0]));
            try (EtcdCluster source = EtcdCluster.connect(settings, new SimpleMeterRegistry());
                    SourceForm form = new SourceForm(source)) {
                await().atMost(PATIENCE).until(() -> !source.view().version().equals(EtcdVersion.UNKNOWN));
                form.probe();
                await().atMost(PATIENCE).until(form::isKnown);
                assumeTrue(form.get().errorsRepeatText(), "a build of etcd 3.5 with the dialect of the official one");

                cluster.members().get(0).stop();
                Files.delete(program);
                Path unused = Files.createSymbolicLink(program, after.etcd());
                cluster.members().get(0).start();

                await().atMost(PATIENCE).until(() -> !form.get().errorsRepeatText());
            }
        }
    }

    private static EtcdBinaries programs(String version) {
        try {
            return EtcdBinaries.find(version);
        } catch (EtcdNotFoundException e) {
            return abort(e.getMessage());
        }
    }

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
