package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.config.Setting;
import io.understudy.config.SettingsSchema;
import io.understudy.config.SettingsText;
import io.understudy.gateway.GatewaySettings;
import io.understudy.mirror.MirrorConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The samples in the distribution equal the descriptions of the settings, and start unchanged. */
final class ConfigurationSamplesTest {

    private static final Path FOLDER = Path.of("dist/src/main/dist/conf");

    @Test
    void theGatewaysSampleIsCurrentAndValid() throws Exception {
        Path sample = current(
                "gateway.yaml",
                withGiven(GatewaySettings.ROWS, Map.of("source.endpoints", "http://10.0.0.1:2379")),
                "gateway-2");
        assertThat(GatewaySettings.load(sample, Map.of(), Map.of()).listen().port())
                .isEqualTo(2379);
    }

    @Test
    void theMirrorsSampleIsCurrentAndValid() throws Exception {
        Path sample = current(
                "mirror.yaml",
                withGiven(
                        MirrorConfiguration.ROWS,
                        Map.of(
                                "mirrors.*.source.endpoints", "http://10.0.0.1:2379",
                                "mirrors.*.target.etcd.endpoints", "http://10.0.1.1:2379")),
                "dr");
        assertThat(MirrorConfiguration.load(sample, Map.of(), Map.of()).mirrors())
                .hasSize(1);
    }

    @Test
    void theClustersSampleIsCurrentAndValid() throws Exception {
        Path sample = current("cluster.yaml", ClusterSettings.ROWS, "voter-1");
        ClusterSettings settings = ClusterSettings.load(sample, Map.of(), Map.of());
        assertThat(settings.machines()).hasSize(1);
        assertThat(settings.shape().voters()).isEqualTo(3);
    }

    /** Sources and targets are of several kinds; the samples show these. */
    private static List<Setting<?>> withGiven(Collection<Setting<?>> rows, Map<String, String> given) {
        return rows.stream()
                .<Setting<?>>map(row -> given.containsKey(row.key()) ? required(row, given.get(row.key())) : row)
                .toList();
    }

    private static <T> Setting<T> required(Setting<T> row, String example) {
        return new Setting<>(
                row.key(),
                row.type(),
                row.doc(),
                false,
                row.secret(),
                row.defaultValue(),
                row.least(),
                row.most(),
                example,
                row.check(),
                row.former());
    }

    /** The sample and its schema, rewritten if {@code -Dunderstudy.samples=write} is given. */
    private static Path current(String name, Collection<Setting<?>> rows, String star) throws Exception {
        String schema = name.replace(".yaml", ".schema.json");
        current(schema, SettingsSchema.of(rows, "Configuration file " + name + " of Understudy"));
        return current(name, "# yaml-language-server: $schema=" + schema + "\n\n" + SettingsText.sample(rows, star));
    }

    private static Path current(String name, String text) throws Exception {
        Path sample = FOLDER.resolve(name);
        if ("write".equals(System.getProperty("understudy.samples"))) {
            Files.writeString(sample, text);
        }
        assertThat(sample)
                .as("out of date: run with -Dunderstudy.samples=write")
                .hasContent(text);
        return sample;
    }
}
