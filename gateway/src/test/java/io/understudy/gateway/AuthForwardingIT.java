package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.junit.EtcdExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Forwarded writes reach the source as their own users.
 *
 * <p>Tests invariant W2.
 */
@Timeout(120)
final class AuthForwardingIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @Test
    void usersAreManagedAndDistinguishedThroughTheGateway() throws Exception {
        GatewaySettings settings =
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD));
        try (GatewayFixture fixture = new GatewayFixture(settings)) {
            fixture.awaitReady();
            fixture.etcdctl("role", "add", "prompter");
            fixture.etcdctl("role", "grant-permission", "prompter", "readwrite", "script");
            for (String user : new String[] {"root", "guest"}) {
                fixture.etcdctl("user", "add", user + ":" + user);
            }
            fixture.etcdctl("user", "grant-role", "root", "root");
            fixture.etcdctl("user", "grant-role", "guest", "prompter");
            assertThat(fixture.etcdctl("auth", "enable")).isEqualTo("Authentication Enabled\n");

            assertThat(fixture.etcdctl("--user=guest:guest", "put", "script", "line"))
                    .isEqualTo("OK\n");
            assertThatThrownBy(() -> fixture.etcdctl("--user=guest:guest", "put", "stage", "x"))
                    .hasMessageContaining("etcdserver: permission denied");
            assertThatThrownBy(() -> fixture.etcdctl("--user=guest:wrong", "put", "script", "x"))
                    .hasMessageContaining("authentication failed, invalid user ID or password");
            assertThatThrownBy(() -> fixture.etcdctl("put", "script", "x"))
                    .hasMessageContaining("etcdserver: user name is empty");
            assertThat(fixture.etcdctl("--user=root:root", "user", "list")).isEqualTo("guest\nroot\n");
            assertThat(fixture.etcdctl("--user=root:root", "auth", "status")).contains("Authentication Status: true");
            assertThat(fixture.etcdctl("--user=root:root", "auth", "disable")).isEqualTo("Authentication Disabled\n");
            requireThatChangesAtTheMemberAreNoticed(fixture);
        }
    }

    private static void requireThatChangesAtTheMemberAreNoticed(GatewayFixture fixture) {
        assertThat(SOURCE.cluster().etcdctl("auth", "enable")).isEqualTo("Authentication Enabled\n");
        await().atMost(GatewayFixture.PATIENCE)
                .until(() -> fixture.page("/readyz?verbose").body().contains("set source.user of this gateway"));
        assertThat(SOURCE.cluster().etcdctl("--user=root:root", "auth", "disable"))
                .isEqualTo("Authentication Disabled\n");
        await().atMost(GatewayFixture.PATIENCE).ignoreExceptions().until(() -> fixture.etcdctl("get", "script")
                .equals("script\nline\n"));
        fixture.awaitReady();
    }
}
