package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import org.junit.jupiter.api.Test;

/** The words are those of Go's gRPC server ({@code server.go}, handleStream). */
final class RefusalsTest {

    @Test
    void whatEtcdDoesNotHaveIsUnimplementedInTheWordsOfItsServer() {
        assertThat(Refusals.unknown("etcdserverpb.KV/Sing").code()).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(Refusals.unknown("etcdserverpb.KV/Sing").text())
                .isEqualTo("unknown method Sing for service etcdserverpb.KV");
        assertThat(Refusals.unknown("opera.House/Sing").text()).isEqualTo("unknown service opera.House");
        assertThat(Refusals.unknown("sing").text()).isEqualTo("malformed method name: \"/sing\"");
    }
}
