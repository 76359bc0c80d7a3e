package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.EtcdSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant CF4. */
final class SettingsTextTest {

    private static final List<Setting<?>> ROWS = rows();

    @TempDir
    Path folder;

    private static List<Setting<?>> rows() {
        List<Setting<?>> rows = new ArrayList<>();
        rows.add(Setting.duration("pause", "How long to wait. A | b.")
                .defaultsTo(Duration.ofMillis(1500))
                .between(Duration.ofSeconds(1), Duration.ofSeconds(3)));
        rows.addAll(Setting.under("mirrors.*.source", EtcdSettings.ROWS));
        rows.add(
                Setting.text("mirrors.*.token", "Shown to nobody.").optionally().secretly());
        return rows;
    }

    @Test
    void theSampleIsACompleteConfiguration() throws IOException {
        Path sample = Files.writeString(folder.resolve("sample.yaml"), SettingsText.sample(ROWS, "orders"));

        Configuration configuration = Configuration.load(sample, Map.of(), Map.of(), ROWS);

        assertThat(configuration.names("mirrors")).containsExactly("orders");
        assertThat(EtcdSettings.from("source", configuration.at("mirrors.orders.source"))
                        .endpoints())
                .hasSize(1);
    }

    @Test
    void theSampleShowsDefaultsCommentedOutBelowTheirMeaning() {
        assertThat(SettingsText.sample(ROWS, "orders"))
                .startsWith("""
                        # How long to wait. A | b. A duration such as 200ms, 5s or 1h30m, from 1s to 3s.
                        # pause: 1s500ms

                        mirrors:
                          orders:
                            source:
                              # Client URLs of cluster members""")
                .contains("\n      endpoints: http://127.0.0.1:2379\n")
                .contains("\n      # discovery: members\n")
                .contains("\n    # tokenFile: ");
    }

    @Test
    void everySettingStandsInTheReference() {
        assertThat(SettingsText.reference(ROWS))
                .contains("| `pause` | `UNDERSTUDY_PAUSE` | `1s500ms` | a duration such as 200ms, 5s or 1h30m,"
                        + " from 1s to 3s | How long to wait. A \\| b. |\n")
                .contains("| `mirrors.*.source.endpoints` | `UNDERSTUDY_MIRRORS_*_SOURCE_ENDPOINTS` | required |")
                .contains("Shown to nobody. Secret. |");
    }
}
