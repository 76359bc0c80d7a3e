package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Comparing with a target that holds more than the mirror's settings tell. */
@Tag("takeover")
final class OwnWritesIT {

    @RegisterExtension
    static final EtcdExtension ETCD = EtcdExtension.voters(1)
            .named("target")
            .with(builder -> builder.extraArguments("--max-request-bytes=104857600"));

    private static final Revision REVISION = new Revision(7);
    private static final int MEBIBYTE = 1 << 20;

    private final OwnWrites writes = new OwnWrites(MirrorScope.all(), EtcdSinkOptions.DEFAULTS.maxRequestBytes());
    private TestClient client;
    private EtcdCluster cluster;

    @BeforeEach
    void connect() {
        client = TestClient.of(ETCD.cluster().leader());
        client.deleteAll();
        cluster = EtcdCluster.connect(Mirrors.settings(ETCD.cluster()), new SimpleMeterRegistry());
    }

    @AfterEach
    void close() {
        cluster.close();
        client.close();
    }

    @Test
    void valuesAreComparedThatTogetherAreMoreThanOneAnswerCanBring() {
        for (int i = 0; i < 5; i++) {
            client.put("/large/" + i, zeros(15 * MEBIBYTE));
            wrote("/large/" + i, "small");
        }
        client.put("/same", "small");
        wrote("/same", "small");
        writes.add(new Commit(REVISION, List.of(new Change.Delete(ByteString.copyFromUtf8("/gone")))));

        OwnWrites.Differing differing = writes.differingIn(target());

        assertThat(differing.unknown()).isNull();
        assertThat(differing.keys())
                .extracting(ByteString::toStringUtf8)
                .containsExactly("/large/0", "/large/1", "/large/2", "/large/3", "/large/4");
    }

    @Test
    void aValueThatCanNotBeReceivedIsToldToBeUnknown() {
        wrote("/before", "only at the source");
        client.put("/huge", zeros(65 * MEBIBYTE));
        wrote("/huge", "small");

        OwnWrites.Differing differing = writes.differingIn(target());

        assertThat(differing.keys()).extracting(ByteString::toStringUtf8).containsExactly("/before");
        assertThat(differing.unknown()).startsWith("key \"/huge\": target ").contains("exceeds maximum size");
    }

    @Test
    void aTargetThatAnswersNothingIsNotTakenForOne() {
        wrote("/a", "1");
        EtcdCluster closed = EtcdCluster.connect(Mirrors.settings(ETCD.cluster()), new SimpleMeterRegistry());
        closed.close();

        assertThatThrownBy(() -> writes.differingIn(new PatientCalls(closed, null, Duration.ofSeconds(1))))
                .isInstanceOf(TakeOverException.class);
    }

    private void wrote(String key, String value) {
        writes.add(new Commit(
                REVISION,
                List.of(new Change.Put(new KeyValue(
                        ByteString.copyFromUtf8(key), ByteString.copyFromUtf8(value), REVISION, REVISION, 1, 0)))));
    }

    private PatientCalls target() {
        return new PatientCalls(cluster, null, Duration.ofSeconds(3)).named("target");
    }

    private static ByteString zeros(int bytes) {
        return ByteString.copyFrom(new byte[bytes]);
    }
}
