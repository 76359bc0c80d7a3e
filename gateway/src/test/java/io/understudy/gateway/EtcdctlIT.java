package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.local.junit.EtcdExtension;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** etcd's own client can't tell the gateway from its source, but for the member id. */
@Timeout(120)
final class EtcdctlIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static GatewayFixture fixture;

    @BeforeAll
    static void write() throws Exception {
        for (int i = 1; i <= 4; i++) {
            SOURCE.cluster().etcdctl("put", "k/" + i, "value " + i);
        }
        SOURCE.cluster().etcdctl("put", "k/1", "again");
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()));
        fixture.awaitReady();
    }

    @AfterAll
    static void close() {
        fixture.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "get k/2 -w=fields --hex",
                "get --prefix k/ --limit=2 -w=fields",
                "get --prefix k/ --keys-only",
                "get --prefix k/ --count-only -w=fields",
                "get --prefix k/ --sort-by=MODIFY --order=DESCEND",
                "get --from-key k/2",
                "get k/1 k/3",
                "get nothing"
            })
    void printsTheSameOfTheGatewayAsOfItsSource(String command) {
        String[] line = (command + " --consistency=s").split(" ", -1);
        // The term is known once the source was asked for its status.
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(withoutMember(fixture.etcdctl(line)))
                .isEqualTo(withoutMember(SOURCE.cluster().etcdctl(line))));
    }

    @Test
    void readsLinearizablyByDefault() {
        SOURCE.cluster().etcdctl("put", "just", "written");
        assertThat(fixture.etcdctl("get", "just")).isEqualTo("just\nwritten\n");
    }

    @Test
    void isToldWhatIsNotServed() {
        assertThatThrownBy(() -> fixture.etcdctl("put", "k/1", "x"))
                .hasMessageContaining("etcdserverpb.KV/Put is not served by this gateway");
    }

    private static String withoutMember(String output) {
        return output.replaceAll("\"MemberID\" : \\S+", "");
    }
}
