package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Access to a real cluster with authentication, as a user that may read {@code app/} and nothing else.
 *
 * <p>Tests invariants E11, E12.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
final class LoginIT {

    @RegisterExtension
    static final EtcdExtension etcd = EtcdExtension.voters(3).learners(1).named("login");

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final KeyRange READABLE = KeyRange.prefix(ByteString.copyFromUtf8("app/"));
    private static final String ROOT = "--user=root:root's";

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private EtcdCluster cluster;

    @BeforeAll
    static void enableAuthentication() {
        etcd.cluster().etcdctl("put", "app/a", "1");
        etcd.cluster().enableAuthentication("root's");
        etcd.cluster().etcdctl(ROOT, "role", "add", "reader");
        etcd.cluster().etcdctl(ROOT, "role", "grant-permission", "reader", "read", "app/", "--prefix");
        etcd.cluster().etcdctl(ROOT, "user", "add", "gateway:secret");
        etcd.cluster().etcdctl(ROOT, "user", "grant-role", "gateway", "reader");
    }

    @AfterEach
    void close() {
        if (cluster != null) {
            cluster.close();
        }
    }

    private void connect(String password) {
        connect(new Credentials("gateway", password));
    }

    private void connect(Credentials login) {
        EtcdSettings settings =
                EtcdSettings.of(etcd.cluster().clientUrls().toArray(URI[]::new)).withLogin(login);
        cluster = EtcdCluster.connect(settings, READABLE, meters);
    }

    private void connect() {
        connect("secret");
        awaitAll();
    }

    private void awaitAll() {
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(cluster.view().members()).hasSize(4).allMatch(Views::isKnownWhole));
    }

    @Test
    void membersAreKnownThoughStatusIsForRootAlone() {
        connect();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(cluster.view().leader())
                .hasValueSatisfying(leader -> assertThat(leader.id())
                        .isEqualTo(new MemberId(etcd.cluster().leader().id()))));
        assertThat(cluster.view().members(Role.LEARNER))
                .extracting(Member::id)
                .containsExactly(new MemberId(learner().id()));
        assertThat(cluster.view().members())
                .allMatch(member -> member.version().watchFault().isEmpty());
    }

    @Test
    void readIndexesReadAPermittedKey() {
        connect();

        // Not by the first one surely: it logs in, and a learner that is silent for half a second has no second turn.
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                        cluster.readIndex(DEADLINE).join().servedBy())
                .isEqualTo(new MemberId(learner().id())));
    }

    @Test
    void onlyWhatMayBeReadIsRead() {
        connect();

        assertThat(read("app/a")).isEqualTo("1");
        assertThatThrownBy(() -> read("other")).isInstanceOfSatisfying(StatusRuntimeException.class, refused -> {
            assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        });
    }

    @Test
    void aTokenThatARestartedLearnerForgotIsReplaced() {
        connect();
        learner().restart();

        awaitAll();
        await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> assertThat(read("app/a"))
                .isEqualTo("1"));

        assertThat(logins("ok")).isGreaterThan(1);
    }

    @Test
    void oneTokenServesManyCalls() {
        connect();
        double before = logins("ok");

        for (int i = 0; i < 50; i++) {
            read("app/a");
        }

        assertThat(logins("ok")).isEqualTo(before).isEqualTo(1);
    }

    @Test
    void aWrongPasswordFailsWithEtcdsErrorAndIsRetriedAfterAPause() {
        connect("wrong");

        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> read("app/a"))
                    .hasMessage(
                            "INTERNAL: login failed: etcdserver: authentication failed, invalid user ID or password");
        }

        assertThat(logins("failed")).isBetween(1.0, 5.0);
    }

    /** Without a token, etcd takes the name in the certificate for the user, which it does not know. */
    @Test
    void authenticationThatIsEnabledLaterIsNoticedByAClientWithACertificate(@TempDir Path folder) throws IOException {
        Certificates.Pair pair = new Certificates(folder).make("cluster", "EC");
        try (LocalEtcd secured = LocalEtcd.builder()
                .name("secured")
                .fsync(false)
                .tls(pair.mutual())
                .dataDirectory(folder.resolve("data"))
                .build()) {
            secured.start();
            var unusedKey = secured.etcdctl("put", "app/a", "1");
            EtcdSettings settings = EtcdSettings.of(secured.clientUrls().toArray(URI[]::new))
                    .withTls(new TlsFiles(pair.certificate(), pair.certificate(), pair.key()))
                    .withLogin(new Credentials("root", "secret"));
            cluster = EtcdCluster.connect(settings, READABLE, meters);
            await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> assertThat(
                            read(secured.members().get(0), "app/a"))
                    .isEqualTo("1"));
            secured.enableAuthentication("secret");

            await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> assertThat(
                            read(secured.members().get(0), "app/a"))
                    .isEqualTo("1"));
        }
    }

    @Test
    void aPasswordThatWasChangedIsReadFromItsFileOnceTheOldOneIsRefused(@TempDir Path folder) throws IOException {
        etcd.cluster().etcdctl(ROOT, "user", "add", "moving:old");
        etcd.cluster().etcdctl(ROOT, "user", "grant-role", "moving", "reader");
        Path file = Files.writeString(folder.resolve("password"), "old\n");
        connect(new Credentials("moving", "old", false, file));
        awaitAll();

        Files.writeString(file, "new\n");
        // Refuses the tokens of all.
        etcd.cluster().etcdctl(ROOT, "user", "delete", "moving");
        etcd.cluster().etcdctl(ROOT, "user", "add", "moving:new");
        etcd.cluster().etcdctl(ROOT, "user", "grant-role", "moving", "reader");

        await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> {
            assertThat(logins("ok")).isGreaterThan(1);
            assertThat(read("app/a")).isEqualTo("1");
        });
    }

    private String read(String key) {
        return read(learner(), key);
    }

    private String read(EtcdMember member, String key) {
        return KVGrpc.newBlockingStub(cluster.channel(Endpoint.of(member.clientUrl())))
                .withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setSerializable(true)
                        .build())
                .getKvs(0)
                .getValue()
                .toStringUtf8();
    }

    private static EtcdMember learner() {
        return etcd.cluster().learners().get(0);
    }

    private double logins(String outcome) {
        return meters.counter("understudy.etcd.logins", "cluster", "etcd", "outcome", outcome)
                .count();
    }
}
