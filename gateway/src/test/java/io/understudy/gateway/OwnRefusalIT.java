package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway that may read only its range: clients with more permissions are not affected. */
@Timeout(120)
final class OwnRefusalIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    @Test
    void deniedReadsOfTheGatewayDifferFromThoseOfItsClients() throws Exception {
        try (Users users = new Users(SOURCE.cluster())) {
            users.add("gateway");
            users.grant("gateway", Permission.Type.READ, key("plays/"), key("plays0"));
            long first = put(users, "plays/hamlet");
            put(users, "secret");
            for (int i = 0; i < 20; i++) {
                put(users, "plays/hamlet");
            }
            EtcdSettings source = EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]))
                    .withName("source")
                    .withLogin(new Credentials("gateway", "gateway"));
            RangeRequest secret =
                    RangeRequest.newBuilder().setKey(key("secret")).build();
            try (GatewayFixture fixture =
                    new GatewayFixture(GatewaySettings.of("test", new HostPort("127.0.0.1", 0), source)
                            .withPrefix("plays/")
                            .with(new ReplicaSettings(1, 1 << 20, 2 << 20, Duration.ofMinutes(1))))) {
                fixture.awaitReady();
                KVGrpc.KVBlockingStub root = KVGrpc.newBlockingStub(
                                Users.as(users.token(Users.ROOT), fixture.channel()))
                        .withDeadlineAfter(30, TimeUnit.SECONDS);

                // A past revision is read from the source; a transaction first requests the revision.
                RangeRequest past = RangeRequest.newBuilder()
                        .setKey(key("plays/hamlet"))
                        .setRevision(first)
                        .build();
                assertThat(root.range(past).getCount()).isEqualTo(1);
                TxnRequest txn = TxnRequest.newBuilder()
                        .addCompare(Compare.newBuilder().setKey(key("plays/hamlet")))
                        .addSuccess(RequestOp.newBuilder().setRequestRange(past))
                        .addFailure(RequestOp.newBuilder().setRequestRange(past))
                        .build();
                assertThat(root.txn(txn).getResponses(0).getResponseRange().getCount())
                        .isEqualTo(1);

                // Outside of the range it is read as root.
                assertThat(outcome(() -> root.range(secret))).isEqualTo("OK");
            }
            try (GatewayFixture whole =
                    new GatewayFixture(GatewaySettings.of("test", new HostPort("127.0.0.1", 0), source))) {
                Channel root = Users.as(users.token(Users.ROOT), whole.channel());
                // Root may read it; the gateway may not.
                await().atMost(GatewayFixture.PATIENCE)
                        .untilAsserted(() -> assertThat(outcome(() -> KVGrpc.newBlockingStub(root)
                                        .withDeadlineAfter(5, TimeUnit.SECONDS)
                                        .range(secret.toBuilder()
                                                .setSerializable(true)
                                                .build())))
                                .isEqualTo(
                                        "FAILED_PRECONDITION: understudy: source.user of this gateway has no permission to read"
                                                + " these keys"));
            }
        }
    }

    private static String outcome(Runnable call) {
        try {
            call.run();
            return "OK";
        } catch (StatusRuntimeException e) {
            return e.getMessage();
        }
    }

    private static long put(Users users, String key) {
        return users.asRoot()
                .put(PutRequest.newBuilder().setKey(key(key)).build())
                .getHeader()
                .getRevision();
    }

    private static ByteString key(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
