package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EndpointTest {

    @ParameterizedTest
    @CsvSource({
        "http://127.0.0.1:23791,http://127.0.0.1:23791",
        "HTTPS://Etcd-0.Example:2379/,https://etcd-0.example:2379",
        "http://localhost,http://localhost:2379",
        "http://[::1]:4001,http://[::1]:4001"
    })
    void readsUrlsAndWritesThemInOneForm(String given, String written) {
        assertThat(Endpoint.of(given)).hasToString(written);
        assertThat(Endpoint.of(written)).isEqualTo(Endpoint.of(given));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1:2379",
                "unix:///run/etcd.sock",
                "http://",
                "http://host/path",
                "http://user@host:1",
                "http://host:99999",
                "http://host:1?query"
            })
    void refusesAnythingElseNamingIt(String given) {
        assertThatThrownBy(() -> Endpoint.of(given)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aPasswordInTheUrlIsNotRepeated() {
        assertThatThrownBy(() -> Endpoint.of("http://root:se@cret@etcd:2379/path"))
                .hasMessageContaining("etcd:2379/path")
                .hasMessageNotContaining("cret")
                .hasMessageNotContaining("root");
    }
}
