package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.EtcdSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant CF4. */
final class SettingsTextTest {

    private record Rows(
            @Configured(value = "How long to wait. A | b.", byDefault = "1s500ms", range = "1s..3s")
            Duration pause,

            @Configured.Group("mirrors") Map<String, Mirror> mirrors) {}

    private record Mirror(
            @Configured.Group("source") EtcdSettings source,

            @Configured(value = "Never printed.", secret = true) @Nullable String token) {}

    private static final List<Setting<?>> ROWS = Binder.rows(Rows.class);

    @TempDir
    Path folder;

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
                .contains("\n      endpoints: http://10.0.0.1:2379\n")
                .contains("\n      # discovery: members\n")
                .contains("\n    # tokenFile: ");
    }

    @Test
    void theReferenceContainsEverySetting() {
        assertThat(SettingsText.reference(ROWS))
                .contains("| `pause` | `UNDERSTUDY_PAUSE` | `1s500ms` | a duration such as 200ms, 5s or 1h30m,"
                        + " from 1s to 3s | How long to wait. A \\| b. |\n")
                .contains("| `mirrors.*.source.endpoints` | `UNDERSTUDY_MIRRORS_*_SOURCE_ENDPOINTS` | required |")
                .contains("Never printed. Secret. |");
    }
}
