package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Kustomize manifests and the Helm chart at a real kube-apiserver, which uses etcd directly or through a gateway. */
@EnabledIfSystemProperty(named = "understudy.schedule", matches = "long")
@Timeout(1200)
@Tag("distribution")
final class KubernetesIT {

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"etcd", "gateway"})
    void manifestsAndChartAreInstalledUpgradedAndRemoved(String endpoint) throws Exception {
        assertThat(AcceptanceScript.run("kubernetes", folder, Duration.ofMinutes(18), endpoint))
                .contains("overlays/own: removed", "chart, scaled: applied", "chart: uninstalled");
    }
}
