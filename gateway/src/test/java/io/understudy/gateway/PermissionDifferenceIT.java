package io.understudy.gateway;

import io.etcd.jetcd.api.PutRequest;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.PermissionDifferences.Client;
import io.understudy.gateway.permission.PermissionSettings;
import io.understudy.gateway.server.Unhurried;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random users with random roles read random keys from the gateway and from a voter: the same bytes, or the same refusal.
 * {@code -Dunderstudy.seed=…} repeats a run, {@code -Dunderstudy.requests=…} sends more.
 *
 * <p>Tests invariant P2.
 */
@Timeout(300)
final class PermissionDifferenceIT {

    private static final int REQUESTS = Integer.getInteger("understudy.requests", 6_000);
    private static final int ROUNDS = 3;
    private static final int USERS = 6;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private final PermissionDifferences differences = new PermissionDifferences(true);

    @Test
    void everyUserReceivesTheResponsesOfEtcd() throws Exception {
        try (Users users = new Users(SOURCE.cluster());
                GatewayFixture fixture = new GatewayFixture(settings())) {
            long last = 0;
            for (int i = 0; i < 50; i++) {
                last = users.asRoot()
                        .put(PutRequest.newBuilder().setKey(differences.key()).build())
                        .getHeader()
                        .getRevision();
            }
            for (int i = 0; i < USERS; i++) {
                users.add("user" + i);
            }
            fixture.awaitReady();
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < USERS; i++) {
                    differences.grant(users, "user" + i);
                }
                List<@Nullable String> tokens = new ArrayList<>();
                tokens.add(null);
                tokens.add("never.1");
                tokens.add("nonsense");
                tokens.add(users.token("root"));
                for (int i = 0; i < USERS; i++) {
                    tokens.add(users.token("user" + i));
                }
                List<Client> clients = tokens.stream()
                        .map(token -> new Client(
                                String.valueOf(token),
                                Users.as(token, users.voter()),
                                Users.as(token, fixture.channel())))
                        .toList();
                differences.requireNone(REQUESTS / ROUNDS, clients, last);
            }
        }
    }

    private static GatewaySettings settings() {
        EtcdSettings source = EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]))
                .withName("source")
                .withLogin(Users.root());
        return GatewaySettings.of("test", new HostPort("127.0.0.1", 0), source)
                .with(Unhurried.LIMITS)
                .with(new PermissionSettings(Duration.ofSeconds(1), false, false));
    }
}
